import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { InvocationRecord } from '@gateway/api/console/money'
import { reading } from '../api/queries.ts'
import { useScope, useMe } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { Facts, Moment, Money } from '../components/values.tsx'
import { Copyable } from '../components/copying.tsx'
import { Loaded } from '../components/list-states.tsx'
import { CallCost, CallerName, durationText, CallStateText, reasonLabels } from './call-columns.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { CallContent } from './call-content.tsx'
import { CallOfRequest } from './call-of-request.tsx'
import { callSum, total, type SumLine } from './call-sum.ts'
import { scaleOf, timelineOf } from './call-timeline.ts'
import { count } from '../components/usd.ts'

const EVERY_MS = 2_000

/** A call with its reservation, usage and itemized charge, or what the request with this ID made. */
export function CallScreen() {
  const { call: id } = useParams({ from: '/projects/$tenant/$project/calls/$call' })
  return id.startsWith('req_') ? <CallOfRequest id={id} /> : <OneCall id={id} />
}

function OneCall({ id: invocation }: { id: string }) {
  const { tenant, project } = useScope()
  const params = { tenant, project, invocation }
  const read = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/invocations/{invocation}', { params }),
    refetchInterval: ({ state }) => state.data?.state === 'Open' && EVERY_MS,
  })
  const actions = (
    <>
      {read.data?.pricing.unit === 'tokens' && (
        <Link
          className="button"
          to="/projects/$tenant/$project/playground"
          params={{ tenant, project }}
          search={{ model: read.data.model }}
        >
          Open in playground
        </Link>
      )}
      <TraceLink call={invocation} />
      <Link className="button" to="/projects/$tenant/$project/calls" params={{ tenant, project }}>
        All calls
      </Link>
    </>
  )
  return (
    <Screen title="Call" of={invocation} actions={actions}>
      <Loaded of={read} what="the call">
        {(call) => <CallParts call={call} />}
      </Loaded>
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
            ['State', <CallStateText key="state" state={call.state} />],
            ['Cost', <CallCost key="cost" call={call} />],
            ['Reserved at admission', <Money key="reserved" micro={call.reservedMicro} />],
            ['Model', <code key="model">{call.model}</code>],
            ['API key', <CallerName key="caller" call={call} />],
            ['Admitted', <Moment key="from" iso={call.createdAt} to="second" isExact />],
            ['Closed', call.closedAt === null ? null : <Moment key="to" iso={call.closedAt} to="second" isExact />],
            ['Duration', call.durationMs === null ? null : durationText(call.durationMs)],
            ['Execution', call.execution === null ? null : <ExecutionLink key="execution" id={call.execution} />],
            ['Node', call.node === null ? null : <code key="node">{call.node}</code>],
          ]}
        />
        {call.reason !== null && <p className="notice">{reasonLabels[call.reason]}</p>}
      </section>
      <CallTimeline call={call} />
      {call.state === 'Settled' && <CallSum call={call} />}
      <CallContent call={call.id} isOpen={call.state === 'Open'} />
    </>
  )
}

/** What happened to a call and when. The bars repeat what the text says. */
function CallTimeline({ call }: { call: InvocationRecord }) {
  const rows = timelineOf(call)
  const scaleMs = scaleOf(rows)
  const share = (ms: number) => `${(100 * ms) / scaleMs}%`
  return (
    <section className="stack" aria-label="Timeline">
      <h2>Timeline</h2>
      <ol className="card timeline">
        {rows.map(({ what, text, tone, span }) => (
          <li key={what}>
            <span>{what}</span>
            <span className="timeline-track" aria-hidden="true">
              {span && (
                <span
                  className={span.fromMs === span.toMs ? 'moment' : tone}
                  style={{ insetInlineStart: share(span.fromMs), inlineSize: share(span.toMs - span.fromMs) }}
                />
              )}
            </span>
            <span className={span === null ? 'soft' : 'figure'}>{text}</span>
          </li>
        ))}
      </ol>
    </section>
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

/** Link to the trace of a call, if the operator configured a trace URL. */
function TraceLink({ call }: { call: string }) {
  const { traceUrl } = useMe()
  if (traceUrl === null) return null
  const address = traceUrl.replaceAll('{invocation}', encodeURIComponent(call))
  return (
    <a className="button" href={address} target="_blank" rel="noreferrer">
      Trace
    </a>
  )
}

const columns: Column<SumLine>[] = [
  { head: 'What', cell: ({ what }) => what },
  { head: 'Count', cell: (line) => count(line.count), isNumber: true },
  { head: 'Unit price', cell: ({ each }) => `$${each}`, isNumber: true },
  { head: 'Amount', cell: ({ amount }) => `$${amount}`, isNumber: true },
]

/** Itemized charge, at the prices of admission. */
function CallSum({ call }: { call: InvocationRecord }) {
  const lines = callSum(call)
  if (lines.length === 0) return null
  const isBounded = call.chargedMicro === call.reservedMicro
  return (
    <section className="stack" aria-label="Cost breakdown">
      <h2>Cost breakdown</h2>
      <DataTable caption="Line items" columns={columns} rows={lines} keyOf={({ what }) => what} />
      <p>
        Total <span className="figure">${total(lines)}</span> at the prices when the call was admitted, rounded up once
        to the next $0.000001:{' '}
        <strong>
          <Money micro={call.chargedMicro} />
        </strong>
        .{isBounded && ' The charge never exceeds the reservation.'}
        {call.estimated && ' The tokens were counted by the gateway, because the provider reported none.'}
      </p>
    </section>
  )
}
