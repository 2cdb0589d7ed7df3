import type { ExecutionSummary } from '@gateway/api/execution'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { Money } from '../components/money.tsx'
import { EXECUTIONS } from './use-executions.ts'

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
