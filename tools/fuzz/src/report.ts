import type { FuzzReport } from './fuzz.ts'
import { titleOf, type OperationFigures } from './tally.ts'

/** Whether a run found nothing at all. */
export function isClean({ findings, books, ended }: FuzzReport): boolean {
  return findings.size === 0 && books.length === 0 && ended.length === 0
}

/** Findings and figures of a run. The examples of the findings were printed when they were found. */
export function formatReport(report: FuzzReport): string {
  const { findings, books, ended, errors, slowest, statuses, sent, tookMs, seed } = report
  const serverErrors = [...statuses].reduce((sum, [status, count]) => sum + (status >= 500 ? count : 0), 0)
  const found = [...findings.values()].toSorted((one, other) => other.count - one.count)
  return [
    '',
    'Findings',
    ...found.map((finding) => `  ${titleOf(finding)}`),
    ...(found.length === 0 ? ['  none'] : []),
    '',
    ...operationTable(report.operations),
    '',
    'Slowest responses',
    ...slowest.map(({ ms, what }) => `  ${Math.round(ms)} ms  ${what}`),
    '',
    ...errorLines(report),
    `Statuses: ${formatStatuses(statuses)}`,
    `Refusals: ${formatCodes(report.codes)}`,
    `Books: ${books.join('\n') || 'nothing reserved, ledger check found nothing'}`,
    `Processes: ${ended.join(', ') || 'the same as at the start'}`,
    `${sent} requests in ${Math.round(tookMs / 1000)} s (seed ${seed}): ${serverErrors} with 5xx, ${found.length} kinds of findings, ${errors.length} errors logged`,
  ].join('\n')
}

function operationTable(operations: Map<string, OperationFigures>): string[] {
  const rows = [...operations].toSorted(([one], [other]) => one.localeCompare(other))
  const share = (part: number, of: number) => `${Math.round((100 * part) / of)} %`.padStart(6)
  const width = Math.max(...rows.map(([name]) => name.length))
  return [
    `${'Operation'.padEnd(width)}  requests     2xx     4xx   5xx   slowest`,
    ...rows.map(([name, { requests, successes, refusals, serverErrors, slowestMs }]) =>
      [
        name.padEnd(width),
        String(requests).padStart(8),
        share(successes, requests),
        share(refusals, requests),
        String(serverErrors).padStart(4),
        `${Math.round(slowestMs)} ms`.padStart(8),
      ].join('  '),
    ),
  ]
}

function errorLines({ errors }: FuzzReport): string[] {
  const groups = Map.groupBy(errors, ({ service, message, stack }) =>
    [`${service}: ${message.slice(0, 300)}`, ...(stack ?? '').split('\n').slice(0, 6)].join('\n      '),
  )
  const lines = [...groups].map(([text, all]) => `  ${all.length}×  ${text}`)
  return lines.length > 0 ? ['Errors in the logs', ...lines, ''] : []
}

function formatStatuses(statuses: Map<number, number>): string {
  const sorted = [...statuses].toSorted(([one], [other]) => one - other)
  return sorted.map(([status, count]) => `${status === 0 ? 'none' : status} ${count}×`).join(', ')
}

function formatCodes(codes: Map<string, number>): string {
  const sorted = [...codes].toSorted(([, one], [, other]) => other - one)
  return sorted.map(([code, count]) => `${code} ${count}×`).join(', ')
}
