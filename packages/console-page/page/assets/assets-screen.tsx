import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { failedBy } from '../api/failed.ts'
import { useProjectRole, useScope, useProjectName, useMe, useKeyName, useMemberNames } from '../api/session.ts'
import { FilterChip } from '../components/filters.tsx'
import { Screen } from '../frame/screen.tsx'
import { EmptyState, Waiting } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { UploadPart } from './upload-part.tsx'
import { useAssets, ASSETS, kindOf, sizeOf } from './asset-labels.ts'
import './assets.css'
import { useEffect, useRef, useState, type RefObject } from 'react'
import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/queries.ts'
import { Moment } from '../components/values.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { CopyButton } from '../components/copying.tsx'
import { count } from '../components/usd.ts'

/** Images, audio and PDF files of a project. */
export function AssetsScreen() {
  const scope = useScope()
  const role = useProjectRole()
  const mayUse = role === 'Project Owner' || role === 'Project Consumer'
  const view = useSearch({ from: '/projects/$tenant/$project/assets' })
  const navigate = useNavigate({ from: '/projects/$tenant/$project/assets' })
  const { data, error, isPending, ...more } = useAssets(scope, view, mayUse)
  const isClosed = !mayUse || (error !== null && failedBy(error).code === 'not_found')
  const assets = data?.pages.flatMap((page) => page.data)
  return (
    <Screen title="Assets" of={useProjectName()}>
      {isClosed ? <NotForYou /> : <UploadPart />}
      {view.execution !== undefined && (
        <div className="chips">
          <FilterChip
            name="Execution"
            value={view.execution}
            choices={[]}
            onChange={() => void navigate({ search: {} })}
          />
        </div>
      )}
      <RefusalBox error={error} />
      {!isClosed && isPending && !error && <Waiting what="assets" />}
      {assets?.length === 0 && <NoAssets isFiltered={view.execution !== undefined} />}
      {assets && assets.length > 0 && <AssetGrid assets={assets} />}
      {more.hasNextPage && (
        <div className="buttons">
          <button
            type="button"
            className="button"
            disabled={more.isFetchingNextPage}
            onClick={() => void more.fetchNextPage()}
          >
            {more.isFetchingNextPage ? 'Loading…' : 'Show more'}
          </button>
        </div>
      )}
    </Screen>
  )
}

function NotForYou() {
  const scope = useScope()
  const users = (
    <Link className="button" to="/projects/$tenant/$project/users" params={scope}>
      View project owners
    </Link>
  )
  return (
    <EmptyState title="You don't have access to the assets of this project" action={users}>
      Requires the Project Owner or Project Consumer role and membership in the project's team. A Project Owner can
      grant the role.
    </EmptyState>
  )
}

function NoAssets({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No assets of this execution">Clear the filter.</EmptyState>
  ) : (
    <EmptyState title="No assets yet">
      Upload a file and copy its ID to use it as a flow input. Files that flows generate appear here too.
    </EmptyState>
  )
}

/** Assets, newest first. */
function AssetGrid({ assets }: { assets: StoredAssetRecord[] }) {
  const [deleting, setDeleting] = useState<StoredAssetRecord | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const previewOf = usePreviews(assets, useNear(list, assets))
  return (
    <>
      <ul ref={list} className="asset-grid" aria-label="Assets, newest first">
        {assets.map((asset) => (
          <AssetCard key={asset.id} of={asset} preview={previewOf(asset)} onDelete={() => setDeleting(asset)} />
        ))}
      </ul>
      {deleting && <DeleteAssetDialog of={deleting} onClose={() => setDeleting(null)} />}
    </>
  )
}

/** Confirms deleting an asset, which can't be undone, and says what stops working. */
function DeleteAssetDialog({ of: asset, onClose }: { of: StoredAssetRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const change = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/assets/{asset}', { params: { tenant, asset: asset.id } }),
    `Asset ${asset.id} deleted.`,
    [ASSETS],
  )
  return (
    <FormDialog
      title={`Delete this ${kindOf(asset)}?`}
      submit="Delete"
      cancel="Cancel"
      isDanger
      change={change}
      onClose={onClose}
    >
      <p>
        <code>{asset.id}</code>, {sizeOf(asset.bytes)}, of <Moment iso={asset.createdAt} isExact />.
      </p>
      <p>
        The asset can no longer be viewed or downloaded, and calls that use it are refused with{' '}
        <code>asset_not_found</code>. Executions in progress keep it until they end, and records keep its ID. This can't
        be undone.
      </p>
    </FormDialog>
  )
}

/** An asset and its actions. */
function AssetCard({
  of: asset,
  preview,
  onDelete,
}: {
  of: StoredAssetRecord
  preview: Preview
  onDelete: () => void
}) {
  const { tenant } = useScope()
  const { id, bytes, createdAt } = asset
  const address = `/api/v2/tenants/${encodeURIComponent(tenant)}/assets/${encodeURIComponent(id)}`
  return (
    <li className="card asset">
      <div className="asset-preview">
        <AssetPreview of={asset} address={address} preview={preview} />
      </div>
      <div className="asset-text">
        <div className="head">
          <strong>{kindOf(asset)}</strong>
          <span className="soft" title={`${count(bytes)} bytes`}>
            {sizeOf(bytes)}
          </span>
        </div>
        <p className="soft small">
          <Moment iso={createdAt} />, <AssetMaker of={asset} />
        </p>
        <div className="asset-id">
          <code title={id}>{id}</code>
          <CopyButton text={id} label={`Copy ID ${id}`} isSmall />
        </div>
        <div className="buttons">
          <a className="button small" href={address} download aria-label={`Download ${id}`}>
            Download
          </a>
          <button type="button" className="button small danger" aria-label={`Delete ${id}`} onClick={onDelete}>
            Delete
          </button>
        </div>
      </div>
    </li>
  )
}

interface Preview {
  failures: number
  /** Whether the image has been loaded or is to be loaded now. */
  isShown: boolean
  onLoad: () => void
  onError: () => void
}

/** Half of the assets that a project may read at the same time. */
const MAX_CONCURRENT_PREVIEWS = 8
const MAX_FAILURES = 2
const RETRY_AFTER_MS = 1_000

/** Loads the images near the viewport a few at a time, and those that failed again after the others. */
function usePreviews(assets: StoredAssetRecord[], near: ReadonlySet<string>): (asset: StoredAssetRecord) => Preview {
  const [loaded, setLoaded] = useState<ReadonlySet<string>>(new Set())
  const [failures, setFailures] = useState<Readonly<Record<string, number>>>({})
  const failuresOf = (id: string) => failures[id] ?? 0
  const loading = assets
    .filter(({ id, mimeType }) => isImage(mimeType) && near.has(id) && !loaded.has(id) && failuresOf(id) < MAX_FAILURES)
    .toSorted((one, other) => failuresOf(one.id) - failuresOf(other.id))
    .slice(0, MAX_CONCURRENT_PREVIEWS)
  return (asset) => ({
    failures: failuresOf(asset.id),
    isShown: loaded.has(asset.id) || loading.includes(asset),
    onLoad: () => setLoaded((before) => new Set(before).add(asset.id)),
    onError: () => {
      const count = () => setFailures((before) => ({ ...before, [asset.id]: failuresOf(asset.id) + 1 }))
      if (failuresOf(asset.id) === 0) setTimeout(count, RETRY_AFTER_MS)
      else count()
    },
  })
}

/** IDs of the assets whose cards are at most the height of the viewport away from it. */
function useNear(list: RefObject<HTMLUListElement | null>, assets: StoredAssetRecord[]): ReadonlySet<string> {
  const [near, setNear] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const cards = [...list.current!.children]
    const observer = new IntersectionObserver(
      (entries) =>
        setNear((before) => {
          const after = new Set(before)
          for (const { target, isIntersecting } of entries) {
            const { id } = assets[cards.indexOf(target)]!
            if (isIntersecting) after.add(id)
            else after.delete(id)
          }
          return after
        }),
      { root: document, rootMargin: '100% 0px' },
    )
    for (const card of cards) observer.observe(card)
    return () => observer.disconnect()
  }, [list, assets])
  return near
}

const isImage = (mimeType: string) => mimeType.startsWith('image/')

/** Preview of an image, or of an audio file, loaded once it is played. */
function AssetPreview({
  of: { id, mimeType },
  address,
  preview: { failures, isShown, onLoad, onError },
}: {
  of: StoredAssetRecord
  address: string
  preview: Preview
}) {
  if (mimeType.startsWith('audio/')) return <audio controls preload="none" src={address} aria-label={`Audio ${id}`} />
  if (mimeType === 'application/pdf') return <span className="soft small">PDF files have no preview.</span>
  if (failures === MAX_FAILURES) return <span className="soft small">Preview not available.</span>
  return (
    <a href={address} target="_blank" rel="noreferrer">
      <img key={failures} src={isShown ? address : undefined} alt={`Image ${id}`} onLoad={onLoad} onError={onError} />
    </a>
  )
}

/** Origin of an asset. An execution links to all assets that it created. */
function AssetMaker({ of: { execution, key, createdBy } }: { of: StoredAssetRecord }) {
  const me = useMe()
  const memberName = useMemberNames()
  const keyName = useKeyName(key)
  if (execution !== null)
    return (
      <>
        generated by{' '}
        <Link to="/projects/$tenant/$project/assets" from="/projects/$tenant/$project/assets" search={{ execution }}>
          an execution
        </Link>
      </>
    )
  if (createdBy !== null) return <>uploaded by {createdBy === me.id ? 'you' : memberName(createdBy)}</>
  return key === null ? null : <>uploaded with the key {keyName}</>
}
