import type { LatencyFigures } from '@gateway/api/console/money'
import { durationText } from '../calls/call-columns.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { count } from '../components/usd.ts'
import { Money } from '../components/values.tsx'
import { SHOWN_GROUPS, type GroupSum } from './usage-stacks.ts'

/** Name of a group; null stands for calls without a group. */
export type NameOfGroup = (group: string | null) => string

interface Props {
  head: string
  groups: readonly GroupSum[]
  latencies: readonly ({ group: string | null } & LatencyFigures)[]
  nameOf: NameOfGroup
  /** Whether to list durations and errors instead of tokens and charges. */
  showsLatency: boolean
  /** Whether groups beyond the colored ones have a color in common. */
  hasOthers: boolean
}

/** Exact data of the chart. */
export function UsageTable({ head, groups, latencies, nameOf, showsLatency, hasOthers }: Props) {
  const places = new Map(groups.map(({ group }, n) => [group, n]))
  const figures = new Map(latencies.map((each) => [each.group, each]))
  const rows = groups.map((group) => ({ ...group, figures: figures.get(group.group) }))
  const colorOf = (group: string | null) => {
    const place = places.get(group)!
    if (place < SHOWN_GROUPS) return place
    return hasOthers ? SHOWN_GROUPS : null
  }
  const name: Column<Row> = {
    head,
    cell: ({ group }) => (
      <>
        {colorOf(group) !== null && <span className={`swatch series-${colorOf(group)}`} aria-hidden="true" />}{' '}
        {nameOf(group)}
      </>
    ),
  }
  const columns = [name, callsColumn, ...(showsLatency ? latencyColumns : moneyColumns)]
  return <DataTable caption="Usage by group" columns={columns} rows={rows} keyOf={({ group }) => group ?? ''} />
}

type Row = GroupSum & { figures: LatencyFigures | undefined }

function numbers(
  head: string,
  valueOf: (row: Row) => number | null,
  cell: (row: Row) => Column<Row>['cell'] extends (row: Row) => infer Cell ? Cell : never,
): Column<Row> {
  return { head, cell, isNumber: true, sortBy: (row) => valueOf(row) ?? -1 }
}

const counts = (head: string, valueOf: (row: Row) => number) => numbers(head, valueOf, (row) => count(valueOf(row)))

const durations = (head: string, valueOf: (figures: LatencyFigures) => number | null) => {
  const ofRow = ({ figures }: Row) => (figures ? valueOf(figures) : null)
  return numbers(head, ofRow, (row) => durationText(ofRow(row)))
}

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

const errorRate = ({ errors, calls }: Row) => (errors + calls === 0 ? 0 : errors / (errors + calls))

const latencyColumns = [
  counts('Errors', ({ errors }) => errors),
  numbers('Error rate', errorRate, (row) => `${(errorRate(row) * 100).toFixed(1)} %`),
  durations('Latency p50', ({ latencyP50Ms }) => latencyP50Ms),
  durations('Latency p95', ({ latencyP95Ms }) => latencyP95Ms),
  durations('First token p50', ({ firstTokenP50Ms }) => firstTokenP50Ms),
  durations('First token p95', ({ firstTokenP95Ms }) => firstTokenP95Ms),
]
