import { useSearch } from '@tanstack/react-router'
import { usePlace, useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { callColumns } from './call-columns.tsx'
import { FilterChips } from './filter-chips.tsx'
import { useCalls } from './use-calls.ts'

export function CallsScreen() {
  const place = usePlace()
  const filters = useSearch({ from: '/projects/$tenant/$project/calls' })
  const calls = useCalls(place, filters)
  const rows = calls.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Screen
      title="Calls"
      of={useProjectName()}
      actions={
        <button type="button" className="button" onClick={() => void calls.refetch()} disabled={calls.isFetching}>
          {calls.isFetching ? 'Looking…' : 'Look again'}
        </button>
      }
    >
      <FilterChips filters={filters} />
      <RefusalBox error={calls.error} />
      {calls.isPending && !calls.error && <Waiting what="calls" />}
      {calls.data && rows.length === 0 && !calls.hasNextPage && (
        <NoCalls isFiltered={Object.keys(filters).length > 0} />
      )}
      {rows.length > 0 && (
        <DataTable caption="Calls, newest first" columns={callColumns(place)} rows={rows} keyOf={({ id }) => id} />
      )}
      {calls.hasNextPage && (
        <div className="buttons">
          <button
            type="button"
            className="button"
            disabled={calls.isFetchingNextPage}
            onClick={() => void calls.fetchNextPage()}
          >
            {calls.isFetchingNextPage ? 'Loading…' : 'Show more'}
          </button>
        </div>
      )}
    </Screen>
  )
}

function NoCalls({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No call is like this">Take a filter away to see others.</EmptyState>
  ) : (
    <EmptyState title="Nothing was called yet">
      A call is here as soon as it is admitted, with what it costs.
    </EmptyState>
  )
}
