import { Link, useSearch } from '@tanstack/react-router'
import { useScope, useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { DataTable } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefreshButton } from '../components/refresh-button.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { Waiting } from '../components/waiting.tsx'
import { ExecutionChips } from './execution-chips.tsx'
import { executionColumns } from './execution-columns.tsx'
import { useExecutions } from './use-executions.ts'
import { useFlowNames } from './use-flow-names.ts'

/** Executions of all flows of a project. Polls those in progress. */
export function ExecutionsScreen() {
  const scope = useScope()
  const filters = useSearch({ from: '/projects/$tenant/$project/executions' })
  const { flows, flowName } = useFlowNames()
  const list = useExecutions(scope, filters)
  const isEmpty = list.data && list.rows.length === 0 && !list.hasNextPage
  return (
    <Screen
      title="Executions"
      of={useProjectName()}
      actions={<RefreshButton isLooking={list.isFetching} onLook={list.refresh} />}
    >
      <ExecutionChips filters={filters} flows={flows} />
      <RefusalBox error={list.error} />
      {list.isPending && !list.error && <Waiting what="executions" />}
      {isEmpty && <NoExecutions isFiltered={Object.keys(filters).length > 0} />}
      {list.rows.length > 0 && (
        <DataTable
          caption="Executions, newest first"
          columns={executionColumns(scope, flowName)}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
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
