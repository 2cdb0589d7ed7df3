import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { InvocationRecord } from '@gateway/api/console/money'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { Badge } from '../components/badge.tsx'
import { Copyable } from '../components/copyable.tsx'
import { Facts } from '../components/facts.tsx'
import { Moment } from '../components/moment.tsx'
import { Money } from '../components/money.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { CallCost } from './call-cost.tsx'
import { CallSum } from './call-sum.tsx'
import { durationText, reasonLabels, stateTones, stateLabels } from './call-labels.ts'
import { CallerName } from './caller-name.tsx'
import { TraceLink } from './trace-link.tsx'

const EVERY_MS = 2_000

/** A call with its reservation, usage and itemized charge. */
export function CallScreen() {
  const { tenant, project, call: invocation } = useParams({ from: '/projects/$tenant/$project/calls/$call' })
  const params = { tenant, project, invocation }
  const { data, error, isPending } = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/invocations/{invocation}', { params }),
    refetchInterval: ({ state }) => state.data?.state === 'Open' && EVERY_MS,
  })
  const actions = (
    <>
      <TraceLink call={invocation} />
      <Link className="button" to="/projects/$tenant/$project/calls" params={{ tenant, project }}>
        All calls
      </Link>
    </>
  )
  return (
    <Screen title="Call" of={invocation} actions={actions}>
      <RefusalBox error={error} />
      {isPending && !error && <Waiting what="the call" />}
      {data && <CallParts call={data} />}
    </Screen>
  )
}

function CallParts({ call }: { call: InvocationRecord }) {
  return (
    <>
      <Copyable text={call.id} label="Copy call ID" />
      <section className="card stack" aria-label="Call details">
        <Facts
          of={[
            ['State', <Badge key="state" tone={stateTones[call.state]} text={stateLabels[call.state]} />],
            ['Cost', <CallCost key="cost" call={call} />],
            ['Reserved at admission', <Money key="reserved" micro={call.reservedMicro} />],
            ['Model', <code key="model">{call.model}</code>],
            ['API key', <CallerName key="caller" call={call} />],
            ['Admitted', <Moment key="from" iso={call.createdAt} to="second" />],
            ['Closed', call.closedAt === null ? null : <Moment key="to" iso={call.closedAt} to="second" />],
            ['Duration', call.durationMs === null ? null : durationText(call.durationMs)],
            ['Execution', call.execution === null ? null : <ExecutionLink key="execution" id={call.execution} />],
            ['Node', call.node === null ? null : <code key="node">{call.node}</code>],
          ]}
        />
        {call.reason !== null && <p className="notice">{reasonLabels[call.reason]}</p>}
      </section>
      {call.state === 'Settled' && <CallSum call={call} />}
    </>
  )
}

/** Link to all calls of the execution. */
function ExecutionLink({ id }: { id: string }) {
  return (
    <Link to="/projects/$tenant/$project/calls" params={useScope()} search={{ execution: id }}>
      <code>{id}</code>
    </Link>
  )
}
