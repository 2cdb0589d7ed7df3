import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import type { ExecutionSummary } from '@gateway/api/execution'
import { useScope } from '../api/use-project.ts'
import { executionColumns } from '../executions/execution-columns.tsx'
import { StopExecutionDialog } from '../executions/stop-execution-dialog.tsx'
import { useFlowNames } from '../executions/use-flow-names.ts'
import { useRunningNow } from '../executions/use-running-now.ts'
import { DataTable, type Column } from '../components/data-table.tsx'

/** Executions in progress, polled, each with a stop button. Hidden if there are none. */
export function RunningNow() {
  const scope = useScope()
  const { flowName } = useFlowNames()
  const rows = useRunningNow()
  const [stopping, setStopping] = useState<ExecutionSummary | null>(null)
  const columns: Column<ExecutionSummary>[] = [
    ...executionColumns(scope, flowName).filter(({ head }) => SHOWN.has(head)),
    {
      head: 'Action',
      cell: (execution) => (
        <button type="button" className="button small danger" onClick={() => setStopping(execution)}>
          Stop<span className="visually-hidden"> the execution of {flowName(execution.sandbox)}</span>
        </button>
      ),
    },
  ]
  return (
    <>
      {rows.length > 0 && (
        <section className="stack" aria-label="Running now">
          <div className="head">
            <h2>Running now</h2>
            <Link to="/projects/$tenant/$project/executions" params={scope}>
              All executions
            </Link>
          </div>
          <DataTable caption="Executions in progress" columns={columns} rows={rows} keyOf={({ id }) => id} />
        </section>
      )}
      {stopping && (
        <StopExecutionDialog of={stopping} flow={flowName(stopping.sandbox)} onClose={() => setStopping(null)} />
      )}
    </>
  )
}

const SHOWN = new Set(['Time', 'Flow', 'State', 'Duration', 'Cost'])
