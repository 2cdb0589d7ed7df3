import type { ExecutionSummary, ExecutionStatus } from '@gateway/api/execution'
import { ask } from '../api/ask.ts'
import { failedBy } from '../api/failed.ts'
import { useChange, reading } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { FormDialog } from '../components/dialog.tsx'
import { Money } from '../components/values.tsx'
import { EXECUTIONS } from './use-executions.ts'
import { useQuery } from '@tanstack/react-query'

/** Confirms stopping an execution, because another user may have started it. */
export function StopExecutionDialog({
  of: { id, chargedMicro },
  flow,
  onClose,
}: {
  of: ExecutionSummary
  flow: string
  onClose: () => void
}) {
  const params = { ...useScope(), execution: id }
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/cancel'
  const stop = useChange(() => ask('POST', path, { params }), 'Execution stopped.', [EXECUTIONS])
  return (
    <FormDialog
      title={`Stop the execution of ${flow}?`}
      submit="Stop execution"
      cancel="Cancel"
      isDanger
      change={stop}
      onClose={onClose}
    >
      <p>
        No further node starts, and waiting callers are notified. Completed calls stay charged:{' '}
        <Money micro={chargedMicro} /> so far. You can reuse its results by running it again from a node.
      </p>
    </FormDialog>
  )
}

const SHOWN = 20
const SOME_MS = 2_000
const NONE_MS = 5_000

/** Newest executions in progress; empty if the user cannot see executions. */
export function useRunningNow() {
  const params = useScope()
  const inState = (state: ExecutionStatus) => ({
    ...reading(EXECUTIONS, { params, query: { state, limit: SHOWN } }),
    refetchInterval: ({
      state: { data, error },
    }: {
      state: { data?: { data: unknown[] } | undefined; error: unknown }
    }) => !isClosed(error) && (data && data.data.length > 0 ? SOME_MS : NONE_MS),
  })
  const waiting = useQuery(inState('Admitted'))
  const running = useQuery(inState('Running'))
  const rows = [...(waiting.data?.data ?? []), ...(running.data?.data ?? [])]
  // An execution may change state between the two requests and be in both.
  return [...new Map(rows.map((row) => [row.id, row])).values()].toSorted((a, b) =>
    b.createdAt.localeCompare(a.createdAt),
  )
}

/** Whether the user cannot see executions. Any other error may pass. */
function isClosed(error: unknown): boolean {
  return error !== null && failedBy(error).code === 'not_found'
}
