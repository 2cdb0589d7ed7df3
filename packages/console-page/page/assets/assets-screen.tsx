import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { failedBy } from '../api/failed.ts'
import { useProjectRole } from '../api/use-project-role.ts'
import { useScope, useProjectName } from '../api/use-project.ts'
import { FilterChip } from '../calls/filter-chip.tsx'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { AssetGrid } from './asset-grid.tsx'
import { UploadPart } from './upload-part.tsx'
import { useAssets } from './use-assets.ts'
import './assets.css'

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
