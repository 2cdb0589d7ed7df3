import { durationText } from '../calls/call-columns.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { count } from '../components/usd.ts'
import { Money } from '../components/values.tsx'
import { type Timing, timingOf } from './usage-latency.ts'
import { SHOWN_GROUPS, type GroupSum } from './usage-stacks.ts'

/** Name of a group; null stands for calls without a group. */
export type NameOfGroup = (group: string | null) => string

interface Props {
  head: string
  groups: readonly GroupSum[]
  nameOf: NameOfGroup
  /** Whether to list durations and errors instead of tokens and charges. */
  showsLatency: boolean
  /** Whether groups beyond the colored ones have a color in common. */
  hasOthers: boolean
}

/** Exact data of the chart. */
export function UsageTable({ head, groups, nameOf, showsLatency, hasOthers }: Props) {
  const places = new Map(groups.map(({ group }, n) => [group, n]))
  const colorOf = (group: string | null) => {
    const place = places.get(group)!
    if (place < SHOWN_GROUPS) return place
    return hasOthers ? SHOWN_GROUPS : null
  }
  const name: Column<GroupSum> = {
    head,
    cell: ({ group }) => (
      <>
        {colorOf(group) !== null && <span className={`swatch series-${colorOf(group)}`} aria-hidden="true" />}{' '}
        {nameOf(group)}
      </>
    ),
  }
  const columns = [name, callsColumn, ...(showsLatency ? latencyColumns : moneyColumns)]
  return <DataTable caption="Usage by group" columns={columns} rows={[...groups]} keyOf={({ group }) => group ?? ''} />
}

function numbers(
  head: string,
  valueOf: (row: GroupSum) => number | null,
  cell: Column<GroupSum>['cell'],
): Column<GroupSum> {
  return { head, cell, isNumber: true, sortBy: (row) => valueOf(row) ?? -1 }
}

const counts = (head: string, valueOf: (row: GroupSum) => number) =>
  numbers(head, valueOf, (row) => count(valueOf(row)))

const durations = (head: string, timing: Timing) =>
  numbers(head, timingOf[timing], (row) => durationText(timingOf[timing](row)))

const callsColumn = counts('Calls', ({ calls }) => calls)

const moneyColumns = [
  counts('Input tokens', ({ promptTokens }) => promptTokens),
  counts('Output tokens', ({ completionTokens }) => completionTokens),
  numbers(
    'Charged',
    ({ chargedMicro }) => chargedMicro,
    ({ chargedMicro }) => <Money micro={chargedMicro} />,
  ),
]

const errorRate = ({ errors, calls }: GroupSum) => (errors + calls === 0 ? 0 : errors / (errors + calls))

const latencyColumns = [
  counts('Errors', ({ errors }) => errors),
  numbers('Error rate', errorRate, (row) => `${(errorRate(row) * 100).toFixed(1)} %`),
  durations('Latency p50', 'latency-p50'),
  durations('Latency p95', 'latency-p95'),
  durations('First token p50', 'first-token-p50'),
  durations('First token p95', 'first-token-p95'),
]
