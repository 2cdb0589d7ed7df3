import type { StoredName } from '@gateway/assets/asset-store'
import { AssetMissing } from '@gateway/assets/blob-backend'
import { sendAsset } from '@gateway/assets/send-asset'
import type { RequestOf, ResponseOf } from '@gateway/ledger-protocol/ledger-operations'
import { recordStored } from '@gateway/ledger-client/record-stored'
import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { refuse } from '@gateway/api/refusal'
import { Prisma } from '@gateway/database/client'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Call, Handler } from '../request/call.ts'
import { behind, equal, type FoundRow, foundRows, inPeriod, type Order, pageOfFound } from '../request/found-rows.ts'
import { readTimeCursor } from '../request/page.ts'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import type { Response } from 'express'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import { type User, userOf } from '../sign-in/user.ts'
import { declaredBytes, declaredType, storeBody } from '@gateway/assets/store-body'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { flowLimits } from '@gateway/api/limits'
import { refuseUnread } from '@gateway/service-kit/http/read-body'

type AssetRow = Omit<StoredAssetRecord, 'createdAt'> & { createdAt: Date }

const order: Order = { at: Prisma.sql`a.created_at`, id: Prisma.sql`a.id` }
const columns = Prisma.sql`
  a.id, a.mime_type AS "mimeType", a.bytes, a.created_at AS "createdAt", a.execution, a.key, a.user_id AS "createdBy"`

/** GET …/projects/{p}/assets: newest first, regardless of who created them. */
export function listAssets(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listAssets'> {
  return async (call, res) => {
    const { project } = await reachAssetsOf(deps, call, res)
    const { cursor, limit, execution, ...period } = call.query()
    const place = cursor === undefined ? null : readTimeCursor(cursor, /^ast_/)
    const along = Prisma.sql`
      a.project = ${project} AND a.deleted_at IS NULL ${inPeriod(order.at, period)} ${behind(order, place)}`
    const fits = Prisma.sql`(true ${equal([[Prisma.sql`a.execution`, execution]])})`
    const found = foundRows({ ...order, table: Prisma.sql`money.assets`, along, fits, columns }, limit)
    const rows = await deps.prisma.$queryRaw<(AssetRow & FoundRow)[]>(found)
    res.json(pageOfFound(rows, limit, assetRecord, ({ createdAt: at, id }) => ({ at, id })))
  }
}

/** Lets a browser display an asset but nothing more: it runs no scripts and fetches nothing. */
const INERT = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox"

/** GET …/assets/{a}: the bytes or a range of them. A browser that opens the address displays the image or audio. */
export function readAsset(deps: Pick<ConsoleDeps, 'prisma' | 'assetStore'>): Handler<'readAsset'> {
  return async (call, res) => {
    const { asset } = await reachAsset(deps, call, res)
    const { id, mimeType } = asset
    if (asset.deletedAt !== null) throw refuse('asset_not_found', { asset: id })
    const extension = mimeType === 'audio/mpeg' ? 'mp3' : mimeType.split('/')[1]
    const headers = { 'Content-Disposition': `inline; filename="${id}.${extension}"`, 'Content-Security-Policy': INERT }
    try {
      await sendAsset(deps, call.req, res, asset, headers)
    } catch (error) {
      if (error instanceof AssetMissing) throw refuse('asset_not_found', { asset: asset.id })
      throw error
    }
  }
}

/**
 * DELETE …/assets/{a}: the bytes remain for as long as a running execution can last
 * (services/ledger/src/assets/assets.ts). The audit row follows; a repeated request writes it if it is missing.
 */
export function deleteAsset(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'deleteAsset'> {
  return async (call, res) => {
    const { user, tenant, asset } = await reachAsset(deps, call, res)
    const { deleted } = await deps.ledger.deleteAsset({ project: asset.project, asset: asset.id })
    if (!deleted) throw refuse('asset_not_found', { asset: asset.id })
    const change = { tenant, action: 'asset.delete' as const, subject: asset.project }
    const where = { ...change, details: { path: ['asset'], equals: asset.id } }
    if (asset.deletedAt === null || !(await deps.prisma.auditEntry.findFirst({ where })))
      await recordChange(deps.prisma, { ...change, user: user.id, details: { asset: asset.id } })
    res.status(204).end()
  }
}

function assetRecord({ id, mimeType, bytes, createdAt, execution, key, createdBy }: AssetRow): StoredAssetRecord {
  return { id, mimeType, bytes, createdAt: createdAt.toISOString(), execution, key, createdBy }
}

type Deps = Pick<ConsoleDeps, 'prisma'>

/**
 * Admits users who may use the sandbox products of the project to its assets; to others they don't exist (rules §7.3).
 * @throws Refusal `not_found`
 */
async function reachAssetsOf(
  deps: Deps,
  call: Pick<Call<ConsoleRoutes['listAssets']>, 'id'>,
  res: Pick<Response, 'locals'>,
): Promise<{ user: User; tenant: string; project: string }> {
  const [user, tenant, project] = [userOf(res), call.id('tenant'), call.id('project')]
  if (!(await mayUseSandboxes(deps.prisma, user, tenant, project))) throw refuse('not_found', {})
  return { user, tenant, project }
}

/**
 * Returns an asset by its ID, for the same users. It may be deleted already.
 * @throws Refusal `asset_not_found`, the same for an asset that is of another project or never existed
 */
async function reachAsset(
  deps: Deps,
  call: Pick<Call<ConsoleRoutes['readAsset']>, 'id'>,
  res: Pick<Response, 'locals'>,
) {
  const [user, tenant, id] = [userOf(res), call.id('tenant'), call.id('asset')]
  const asset = await deps.prisma.asset.findUnique({ where: { id } })
  if (!asset || !(await mayUseSandboxes(deps.prisma, user, tenant, asset.project)))
    throw refuse('asset_not_found', { asset: id })
  return { user, tenant, asset }
}

type UploadDeps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'assetStore' | 'newId' | 'log'>

/** POST …/projects/{p}/assets: takes raw bytes. They belong to the project once the ledger has recorded them. */
export function uploadAsset(deps: UploadDeps): Handler<'uploadAsset'> {
  return async (call, res) => {
    const { user, tenant, project } = await reachAssetsOf(deps, call, res)
    const declared = declaredType(call.req)
    refuseUnread(call.req, flowLimits.assetBytes)
    const caller = { project, user: user.id }
    const admitted = await deps.ledger.admitAsset({ caller, bytes: declaredBytes(call.req) })
    if ('refused' in admitted) throw refusalFor(admitted.refused, 'console')
    const id = deps.newId('ast')
    const stored = await storeBody(deps.assetStore, call.req, { project, id, declared })
    try {
      await call.authenticateAgain() // the body may have taken ten minutes
      await reachAssetsOf(deps, call, res)
    } catch (error) {
      await removeBytes(deps, [{ id, project }])
      throw error
    }
    const what = { action: 'asset.create' as const, subject: project, details: { asset: id } }
    const note = () => recordChange(deps.prisma, { tenant, user: user.id, ...what })
    const answer = await recordStored(
      deps,
      { id, project, caller, ...stored },
      {
        onLate: () => note().catch((err: unknown) => deps.log.error({ err, ...what }, 'a late upload is not audited')),
      },
    )
    if ('refused' in answer) throw refusalFor(answer.refused, 'console')
    await note()
    const row = await deps.prisma.asset.findUniqueOrThrow({ where: { id } })
    res.status(201).json(assetRecord({ ...row, createdBy: row.user }))
  }
}

const BATCH_SIZE = 100
const MAX_FAILED = 1_000

/**
 * Removes the bytes of assets that were deleted long enough ago, oldest first, in batches. Any number of replicas may run
 * this concurrently and be killed meanwhile: removing bytes again changes nothing. Returns the number of assets removed.
 * Those whose bytes can't be removed now are left for a later run; after MAX_FAILED of them, a run ends.
 */
export async function removeDeleted(
  deps: Pick<ConsoleDeps, 'ledger' | 'assetStore' | 'log' | 'stopping'>,
  { batchSize = BATCH_SIZE }: { batchSize?: number } = {},
): Promise<number> {
  let [removed, failed] = [0, 0]
  let after: RequestOf<'assetsToRemove'>['after']
  do {
    const question = { limit: batchSize, ...(after && { after }) }
    const { assets }: ResponseOf<'assetsToRemove'> = await deps.ledger.assetsToRemove(question)
    const ids = await removeBytes(deps, assets)
    if (ids.length > 0) await deps.ledger.assetsRemoved({ ids })
    removed += ids.length
    failed += assets.length - ids.length
    after = assets[batchSize - 1]
  } while (after && failed < MAX_FAILED && !deps.stopping.aborted)
  return removed
}

/** Returns the ids whose bytes are gone now. Failures are logged, and left for a later run. */
export async function removeBytes(
  { assetStore, log }: Pick<ConsoleDeps, 'assetStore' | 'log'>,
  assets: readonly StoredName[],
): Promise<string[]> {
  const ids: string[] = []
  for (const { id, project } of assets) {
    const failure = await assetStore.remove(project, id).then(
      () => null,
      (error: unknown) => error,
    )
    if (failure === null) ids.push(id)
    else log.warn({ err: failure, asset: id }, 'removal of stored bytes failed, will retry')
  }
  return ids
}
