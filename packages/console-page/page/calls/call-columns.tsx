import { Link } from '@tanstack/react-router'
import type { InvocationRecord } from '@gateway/api/console/money'
import { Badge, Moment, Money, type Tone } from '../components/values.tsx'
import type { Column } from '../components/data-table.tsx'
import { count, inUsd } from '../components/usd.ts'
import { useKeyName, type ProjectScope } from '../api/session.ts'
import type { CallState, Span } from './call-filters.ts'
import { FilterChip } from '../components/filters.tsx'

/** Columns of call lists. The CSV file has dollars and milliseconds. */
export const callColumns = (scope: ProjectScope): Column<InvocationRecord>[] => [
  {
    head: 'Time',
    csv: ({ createdAt }) => createdAt,
    cell: ({ id, createdAt }) => (
      <Link to="/projects/$tenant/$project/calls/$call" params={{ ...scope, call: id }}>
        <Moment iso={createdAt} to="second" />
      </Link>
    ),
  },
  { head: 'Key', cell: (call) => <CallerName call={call} /> },
  { head: 'Model', cell: ({ model }) => <code>{model}</code>, csv: ({ model }) => model },
  {
    head: 'State',
    cell: ({ state }) => <CallStateText state={state} />,
    csv: ({ state }) => stateLabels[state],
  },
  {
    head: 'Tokens',
    cell: (call) => <CallTokens call={call} />,
    isNumber: true,
    csv: ({ promptTokens, completionTokens }) => (promptTokens ?? 0) + (completionTokens ?? 0),
  },
  {
    head: 'Cost',
    cell: (call) => <CallCost call={call} />,
    isNumber: true,
    csv: ({ state, chargedMicro }) => (state === 'Open' ? null : inUsd(chargedMicro)),
  },
  {
    head: 'Duration',
    cell: ({ durationMs }) => durationText(durationMs),
    isNumber: true,
    csv: ({ durationMs }) => durationMs,
  },
]

/** Columns of the CSV file of calls, which has IDs as well. */
export const callCsvColumns = (scope: ProjectScope): Pick<Column<InvocationRecord>, 'head' | 'csv'>[] => [
  { head: 'Call', csv: ({ id }) => id },
  { head: 'Key ID', csv: ({ key }) => key },
  ...callColumns(scope),
]

/** Input and output tokens. */
function CallTokens({ call: { promptTokens, completionTokens, estimated } }: { call: InvocationRecord }) {
  if (promptTokens === null || completionTokens === null) return <span className="soft">–</span>
  return (
    <span title={estimated ? 'Counted by the gateway; the provider reported no usage' : undefined}>
      {count(promptTokens)} <span className="soft">in</span> {count(completionTokens)} <span className="soft">out</span>
      {estimated && <span className="soft"> (estimated)</span>}
    </span>
  )
}

/** Charge of a call; for an open call, its maximum cost. */
export function CallCost({ call }: { call: InvocationRecord }) {
  if (call.state !== 'Open') return <Money micro={call.chargedMicro} />
  return (
    <span className="soft">
      at most <Money micro={call.reservedMicro} />
    </span>
  )
}

/** Credential that a call was made with. */
export function CallerName({ call: { key, execution } }: { call: InvocationRecord }) {
  const name = useKeyName(key)
  if (key === null) return <span className="soft">a user, in the console</span>
  return (
    <>
      {name}
      {execution !== null && <span className="soft"> in an execution</span>}
    </>
  )
}

/** State of a call. Only what is not normal has a color. */
export function CallStateText({ state }: { state: CallState }) {
  return state === 'Settled' ? stateLabels[state] : <Badge tone={stateTones[state]} text={stateLabels[state]} />
}

/** User-facing labels of call states and reasons. */
const stateTones: Record<CallState, Tone> = { Open: 'warn', Settled: 'good', Released: 'plain' }
export const stateLabels: Record<CallState, string> = { Open: 'Open', Settled: 'Charged', Released: 'Released' }

const spanLabels: Record<Span, string> = {
  hour: 'the last hour',
  day: 'the last 24 hours',
  week: 'the last 7 days',
  month: 'the last 30 days',
}

export const reasonLabels: Record<NonNullable<InvocationRecord['reason']>, string> = {
  provider_failed: 'The provider failed. Nothing was charged.',
  rate_limited: 'Rate limit reached. Nothing was charged.',
  instance_ended: 'The process that served the call stopped. Nothing was charged.',
  handed_back: 'Another worker took over before the call started. Nothing was charged.',
  node_failed: 'The node ended without usage. Nothing was charged.',
  execution_over: 'The execution had already ended. Nothing was charged.',
  not_answered: 'Admission timed out. Nothing was charged.',
  not_sent: 'The call waited for a connection to the model and was not sent. Nothing was charged.',
  failed: 'The call failed. Nothing was charged.',
}

/** Formats a duration: 1234 is "1.2 s". */
export function durationText(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** Time range filter. */
export function TimeChip({
  value,
  more = [],
  onChange,
}: {
  value: string | undefined
  /** Further choices. */
  more?: [value: string, text: string][]
  onChange: (value: string | undefined) => void
}) {
  return <FilterChip name="Time" value={value} choices={[...Object.entries(spanLabels), ...more]} onChange={onChange} />
}
