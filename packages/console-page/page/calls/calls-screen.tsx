import { useSearch } from '@tanstack/react-router'
import { useScope, useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { DataTable } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefreshButton } from '../components/refresh-button.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { Waiting } from '../components/waiting.tsx'
import { callColumns } from './call-columns.tsx'
import { FilterChips } from './filter-chips.tsx'
import { useCalls } from './use-calls.ts'

export function CallsScreen() {
  const scope = useScope()
  const filters = useSearch({ from: '/projects/$tenant/$project/calls' })
  const calls = useCalls(scope, filters)
  const rows = calls.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Screen
      title="Calls"
      of={useProjectName()}
      actions={<RefreshButton isLooking={calls.isFetching} onLook={() => void calls.refetch()} />}
    >
      <FilterChips filters={filters} />
      <RefusalBox error={calls.error} />
      {calls.isPending && !calls.error && <Waiting what="calls" />}
      {calls.data && rows.length === 0 && !calls.hasNextPage && (
        <NoCalls isFiltered={Object.keys(filters).length > 0} />
      )}
      {rows.length > 0 && (
        <DataTable caption="Calls, newest first" columns={callColumns(scope)} rows={rows} keyOf={({ id }) => id} />
      )}
      <ShowMore list={calls} />
    </Screen>
  )
}

function NoCalls({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No matching calls">Clear a filter.</EmptyState>
  ) : (
    <EmptyState title="No calls yet">Calls appear with their cost as soon as they are admitted.</EmptyState>
  )
}
