import { Link, useSearch } from '@tanstack/react-router'
import { useScope, useProjectName } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { DataList } from '../components/data-list.tsx'
import { EmptyState, Waiting, ShowMore, RefreshButton } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { executionColumns, useFlowNames, executionStateLabels } from './execution-columns.tsx'
import { useExecutions } from './use-executions.ts'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { FilterChip, useFilter } from '../components/filters.tsx'
import { TimeChip } from '../calls/call-columns.tsx'
import { executionStates, type ExecutionFilters } from './execution-filters.ts'

/** Executions of all flows of a project. Polls those in progress. */
export function ExecutionsScreen() {
  const scope = useScope()
  const filters = useSearch({ from: '/projects/$tenant/$project/executions' })
  const { flows, flowName } = useFlowNames()
  const list = useExecutions(scope, filters)
  return (
    <Screen
      title="Executions"
      of={useProjectName()}
      actions={<RefreshButton isLooking={list.isRefreshing} onLook={() => void list.refresh()} />}
    >
      <RefusalBox error={list.error} />
      <DataList
        name="executions"
        caption="Executions, newest first"
        columns={executionColumns(scope, flowName)}
        rows={list.rows}
        keyOf={({ id }) => id}
        hasMore={list.hasNextPage}
        filters={<ExecutionChips filters={filters} flows={flows} />}
        empty={
          list.data
            ? !list.hasNextPage && <NoExecutions isFiltered={Object.keys(filters).length > 0} />
            : !list.error && <Waiting what="executions" />
        }
      />
      <ShowMore list={list} />
    </Screen>
  )
}

function NoExecutions({ isFiltered }: { isFiltered: boolean }) {
  const scope = useScope()
  if (isFiltered) return <EmptyState title="No matching executions">Clear a filter.</EmptyState>
  const flows = (
    <Link className="button main" to="/projects/$tenant/$project/flows" params={scope}>
      Open a flow
    </Link>
  )
  return (
    <EmptyState title="No executions yet" action={flows}>
      Open a flow and run it, or call an active flow with a key. Executions appear as soon as they start and are kept
      for 30 days.
    </EmptyState>
  )
}

/** Filters of the list, kept in the URL. */
function ExecutionChips({ filters, flows }: { filters: ExecutionFilters; flows: SandboxRecord[] }) {
  const set = useFilter<ExecutionFilters>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <FilterChip
        name="Flow"
        value={filters.flow}
        choices={flows.map(({ id, name }) => [id, name])}
        onChange={set('flow')}
      />
      <FilterChip
        name="State"
        value={filters.state}
        choices={executionStates.map((state) => [state, executionStateLabels[state]])}
        onChange={set('state')}
      />
      <TimeChip value={filters.since} onChange={set('since')} />
    </div>
  )
}
