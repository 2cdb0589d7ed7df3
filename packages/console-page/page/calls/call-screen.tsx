import { useQuery } from '@tanstack/react-query'
import { Link, useParams, Navigate } from '@tanstack/react-router'
import type { InvocationRecord } from '@gateway/api/console/money'
import { reading } from '../api/queries.ts'
import { useScope, useMe, useProducts } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { Facts, Moment, Money } from '../components/values.tsx'
import { Copyable } from '../components/copying.tsx'
import { Loaded, EmptyState } from '../components/list-states.tsx'
import { CallCost, CallerName, durationText, CallStateText, reasonLabels } from './call-columns.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { CallContent } from './call-content.tsx'
import { callSum, total, type SumLine } from './call-sum.ts'
import { scaleOf, timelineOf } from './call-timeline.ts'
import { count } from '../components/usd.ts'
import type { ExecutionDetail } from '@gateway/api/execution'
import { idOfRequest } from '@gateway/api/ids'
import { ask } from '../api/ask.ts'
import { failedBy } from '../api/failed.ts'

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
  const { products } = useProducts()
  const model = products.find(({ id, kind }) => id === read.data?.model && kind === 'chat')
  const actions = (
    <>
      {model && (
        <Link
          className="button"
          to="/projects/$tenant/$project/playground"
          params={{ tenant, project }}
          search={{ model: model.id }}
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
      <CallContent of={call} />
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

/** Opens what a request made: a call, or the execution of a flow (rules §2.2). */
function CallOfRequest({ id }: { id: string }) {
  const scope = useScope()
  const { queryKey } = reading(PATH, { params: { ...scope, invocation: id } })
  const made = useQuery({ queryKey, queryFn: () => madeBy(id, scope) })
  return (
    <Screen title="Request" of={id}>
      <Loaded of={made} what="the request">
        {({ call, execution }) =>
          call !== null ? (
            <Navigate to="/projects/$tenant/$project/calls/$call" params={{ ...scope, call }} replace />
          ) : execution !== null ? (
            <Navigate
              to="/projects/$tenant/$project/flows/$sandbox"
              params={{ ...scope, sandbox: execution.sandbox }}
              search={{ execution: execution.id }}
              replace
            />
          ) : (
            <EmptyState
              title="No call has this request ID"
              action={
                <Link className="button main" to="/projects/$tenant/$project/refusals" params={scope}>
                  Refused calls
                </Link>
              }
            >
              The request was refused, was answered with a stored response, or is of another project. Refused calls are
              listed by their request ID.
            </EmptyState>
          )
        }
      </Loaded>
    </Screen>
  )
}

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/invocations/{invocation}'

interface Made {
  /** ID of the call. */
  call: string | null
  execution: ExecutionDetail | null
}

async function madeBy(request: string, scope: { tenant: string; project: string }): Promise<Made> {
  const [invocation, execution] = [idOfRequest('inv', request), idOfRequest('exe', request)]
  const call = await orNothing(ask('GET', PATH, { params: { ...scope, invocation } }))
  if (call !== null) return { call: call.id, execution: null }
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}'
  return { call: null, execution: await orNothing(ask('GET', path, { params: { ...scope, execution } })) }
}

/** What a request finds; null if there is nothing, or nothing that this user may see. */
async function orNothing<Found>(asked: Promise<Found>): Promise<Found | null> {
  try {
    return await asked
  } catch (error) {
    if (nothings.has(failedBy(error).code)) return null
    throw error
  }
}

const nothings = new Set(['not_found', 'execution_not_found', 'forbidden'])
