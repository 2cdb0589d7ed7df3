import { useQuery } from '@tanstack/react-query'
import { reading } from '../../api/queries.ts'
import { useScope } from '../../api/session.ts'
import { executionStateLabels, executionTones } from '../../executions/execution-columns.tsx'
import { Badge, Moment, Money } from '../../components/values.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { Waiting } from '../../components/list-states.tsx'

const EVERY_MS = 5_000

/** Executions of the flow, newest first. Selecting one shows the state and charge of its nodes on the canvas. */
export function ExecutionsPanel({ sandbox, onShow }: { sandbox: string; onShow: (execution: string) => void }) {
  const scope = useScope()
  const list = useQuery({
    ...reading('/api/v2/tenants/{tenant}/sandboxes/{sandbox}/executions', {
      params: { tenant: scope.tenant, sandbox },
      query: { limit: 50 },
    }),
    refetchInterval: EVERY_MS,
  })
  if (list.isPending) return <Waiting what="executions" />
  return (
    <>
      <RefusalBox error={list.error} />
      <ul className="flow-revisions">
        {list.data?.data.map((execution) => (
          <li key={execution.id}>
            <strong>
              <Moment iso={execution.createdAt} to="second" />
            </strong>
            <span className="chips">
              <Badge tone={executionTones[execution.status]} text={executionStateLabels[execution.status]} />
            </span>
            <span className="soft">
              revision {execution.revision}, charged <Money micro={execution.chargedMicro} />
              {execution.rerunOf !== null && ', rerun from a node'}
            </span>
            <span className="soft">{execution.error?.message}</span>
            <button type="button" className="button small quiet" onClick={() => onShow(execution.id)}>
              Show on canvas
            </button>
          </li>
        ))}
        {list.data?.data.length === 0 && <li className="soft">No executions yet.</li>}
      </ul>
    </>
  )
}
