import { useState } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ExecutionSummary } from '@gateway/contracts/execution'
import { ask } from '../../api/ask.ts'
import { reading } from '../../api/reading.ts'
import { usePlace } from '../../api/use-project.ts'
import { Badge } from '../../parts/badge.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { RefusalBox } from '../../parts/refusal-box.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { readingRevision } from '../data/use-opened-flow.ts'
import { shown } from '../run/take-line.ts'
import { useRunStore } from '../run/run-store.ts'

const EVERY_MS = 5_000

/** Earlier executions, newest first; one is shown on the canvas, with what each of its nodes did and cost. */
export function ExecutionsPanel({ sandbox }: { sandbox: string }) {
  const place = usePlace()
  const run = useRunStore()
  const [error, setError] = useState<unknown>(null)
  const list = useQuery({
    ...reading('/api/v2/tenants/{tenant}/sandboxes/{sandbox}/executions', {
      params: { tenant: place.tenant, sandbox },
      query: { limit: 50 },
    }),
    refetchInterval: EVERY_MS,
  })
  const client = useQueryClient()
  const show = async ({ id, revision }: ExecutionSummary) => {
    setError(null)
    const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}'
    await Promise.all([
      ask('GET', path, { params: { ...place, execution: id } }),
      client.fetchQuery(readingRevision({ tenant: place.tenant, sandbox }, revision)),
    ])
      .then(([execution, { graph }]) => run.setState(shown(execution, graph)))
      .catch(setError)
  }
  if (list.isPending) return <Waiting what="executions" />
  return (
    <>
      <RefusalBox error={list.error ?? error} />
      <ul className="flow-revisions">
        {list.data?.data.map((execution) => (
          <li key={execution.id}>
            <strong>
              <Moment iso={execution.createdAt} to="second" />
            </strong>
            <span className="chips">
              <Badge tone={tones[execution.status]} text={execution.status} />
            </span>
            <span className="soft">
              revision {execution.revision}, charged <Money micro={execution.chargedMicro} />
              {execution.rerunOf !== null && ', from a node of an earlier one'}
            </span>
            <span className="soft">{execution.error?.message}</span>
            <button type="button" className="button small quiet" onClick={() => void show(execution)}>
              Show on the canvas
            </button>
          </li>
        ))}
        {list.data?.data.length === 0 && <li className="soft">Nothing was executed yet.</li>}
      </ul>
    </>
  )
}

const tones = { Admitted: 'plain', Running: 'warn', Succeeded: 'good', Failed: 'bad', Cancelled: 'plain' } as const
