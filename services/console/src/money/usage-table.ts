import type { UsageFigures, UsageReport } from '@gateway/api/console/money'
import type { CsvRow } from '@gateway/api/csv-text'

/** A usage report as a table. */
export function usageTable({ by, step, data, total }: UsageReport): CsvRow[] {
  const columns = (Object.keys(columnOf) as (keyof UsageFigures)[]).filter((column) => column in total)
  return [
    [...(step ? ['time'] : []), by, ...columns.map((column) => columnOf[column])],
    ...data.map((row) => [
      ...(row.time === undefined ? [] : [row.time]),
      row.group,
      ...columns.map((column) => row[column] ?? null),
    ]),
  ]
}

const columnOf: Required<Record<keyof UsageFigures, string>> = {
  calls: 'calls',
  promptTokens: 'prompt_tokens',
  completionTokens: 'completion_tokens',
  chargedMicro: 'charged_micro',
  errors: 'errors',
  latencyP50Ms: 'latency_p50_ms',
  latencyP95Ms: 'latency_p95_ms',
  firstTokenP50Ms: 'first_token_p50_ms',
  firstTokenP95Ms: 'first_token_p95_ms',
}
