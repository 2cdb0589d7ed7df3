import type { LatencyFigures, UsageReport } from '@gateway/api/console/money'
import type { CsvRow } from '@gateway/api/csv-text'

type Row = Pick<UsageReport['data'][number], 'time' | 'group'>

/** A usage report as a table. With latency, a group of which all calls failed has a row as well. */
export function usageTable({ by, step, data, latency }: UsageReport): CsvRow[] {
  const cells: readonly (Row & LatencyFigures)[] = (step ? latency?.cells : latency?.groups) ?? []
  const figures = new Map(cells.map((cell) => [nameOf(cell), cell]))
  const known = new Set(data.map(nameOf))
  const failed = cells.filter((cell) => !known.has(nameOf(cell)))
  const rows = [
    ...data,
    ...failed.map(({ time, group }) => ({
      ...(time !== undefined && { time }),
      group,
      calls: 0,
      promptTokens: 0,
      completionTokens: 0,
      chargedMicro: 0,
    })),
  ]
  return [
    [...(step ? ['time'] : []), by, ...usageColumns, ...(latency ? latencyColumns : [])],
    ...rows.map((row) => [
      ...(row.time === undefined ? [] : [row.time]),
      row.group,
      row.calls,
      row.promptTokens,
      row.completionTokens,
      row.chargedMicro,
      ...(latency ? latencyFields(figures.get(nameOf(row))) : []),
    ]),
  ]
}

const usageColumns = ['calls', 'prompt_tokens', 'completion_tokens', 'charged_micro']
const latencyColumns = ['errors', 'latency_p50_ms', 'latency_p95_ms', 'first_token_p50_ms', 'first_token_p95_ms']

function latencyFields(figures: LatencyFigures | undefined): CsvRow {
  if (figures === undefined) return [0, null, null, null, null]
  const { errors, latencyP50Ms, latencyP95Ms, firstTokenP50Ms, firstTokenP95Ms } = figures
  return [errors, latencyP50Ms, latencyP95Ms, firstTokenP50Ms, firstTokenP95Ms]
}

function nameOf({ time, group }: Row): string {
  return JSON.stringify([time, group])
}
