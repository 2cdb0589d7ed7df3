import { Link } from '@tanstack/react-router'
import type { ExecutionSummary, ExecutionStatus } from '@gateway/api/execution'
import { Badge, Moment, Money, type Tone } from '../components/values.tsx'
import type { Column } from '../components/data-table.tsx'
import { useKeyName, useMemberNames, useMe, type ProjectScope, useScope } from '../api/session.ts'
import { useEffect, useState } from 'react'
import { durationText } from '../calls/call-columns.tsx'
import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/queries.ts'

/** Columns of execution lists. */
export const executionColumns = (scope: ProjectScope, flowName: (id: string) => string): Column<ExecutionSummary>[] => [
  {
    head: 'Time',
    csv: ({ createdAt }) => createdAt,
    cell: ({ id, sandbox, createdAt }) => (
      <Link
        to="/projects/$tenant/$project/flows/$sandbox"
        params={{ ...scope, sandbox }}
        search={{ execution: id }}
        title="Show on canvas"
      >
        <Moment iso={createdAt} to="second" />
      </Link>
    ),
  },
  { head: 'Flow', cell: ({ sandbox }) => flowName(sandbox), csv: ({ sandbox }) => flowName(sandbox) },
  { head: 'Revision', cell: ({ revision }) => revision, isNumber: true, csv: ({ revision }) => revision },
  {
    head: 'State',
    csv: ({ status }) => executionStateLabels[status],
    cell: ({ status, error }) => (
      <span title={error?.message}>
        <Badge tone={executionTones[status]} text={executionStateLabels[status]} />
      </span>
    ),
  },
  { head: 'Duration', cell: (execution) => <ExecutionDuration of={execution} />, isNumber: true },
  { head: 'Cost', cell: (execution) => <ExecutionCost of={execution} />, isNumber: true },
  { head: 'Started by', cell: (execution) => <StartedBy of={execution} /> },
]

/** Charges of the calls of an execution so far. */
function ExecutionCost({ of }: { of: ExecutionSummary }) {
  return (
    <>
      <Money micro={of.chargedMicro} />
      {isInProgress(of) && <span className="soft"> so far</span>}
    </>
  )
}

/** Key or user that started an execution, by name if visible to the reader, and whether it is a rerun. */
function StartedBy({ of: { key, user, rerunOf } }: { of: ExecutionSummary }) {
  const keyName = useKeyName(key)
  const memberName = useMemberNames()
  const { id } = useMe()
  return (
    <>
      {keyName}
      {user !== null && (user === id ? 'You' : memberName(user))}
      {rerunOf !== null && <span className="soft"> (rerun)</span>}
    </>
  )
}

const SECOND_MS = 1_000

/** Duration of an execution; for one in progress, the seconds since its start. */
function ExecutionDuration({ of: { createdAt, completedAt } }: { of: ExecutionSummary }) {
  const beganMs = Date.parse(createdAt)
  if (completedAt !== null) return durationText(Date.parse(completedAt) - beganMs)
  return <SecondsSince ms={beganMs} />
}

function SecondsSince({ ms }: { ms: number }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  // This machine's clock may be behind the server's.
  return `${Math.max(0, Math.floor((now - ms) / SECOND_MS))} s`
}

const SANDBOXES = '/api/v2/tenants/{tenant}/projects/{project}/sandboxes'

/** Flows of the project and their names. */
export function useFlowNames() {
  const { data } = useQuery(readingAll(SANDBOXES, { params: useScope() }))
  const flows = data ?? []
  return { flows, flowName: (id: string) => flows.find((flow) => flow.id === id)?.name ?? id }
}

/** User-facing labels of execution states. */
export const executionTones: Record<ExecutionStatus, Tone> = {
  Admitted: 'plain',
  Running: 'warn',
  Succeeded: 'good',
  Failed: 'bad',
  Cancelled: 'plain',
}
export const executionStateLabels: Record<ExecutionStatus, string> = {
  Admitted: 'Waiting',
  Running: 'Running',
  Succeeded: 'Succeeded',
  Failed: 'Failed',
  Cancelled: 'Stopped',
}

/** Whether the execution has not ended and may still be charged. */
export function isInProgress({ completedAt }: Pick<ExecutionSummary, 'completedAt'>): boolean {
  return completedAt === null
}
