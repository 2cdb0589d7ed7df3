import { sendText } from '@gateway/service-kit/http/answers'
import type { ServerResponse } from 'node:http'

export type CsvRow = readonly (string | number | bigint | null)[]

/** Sends a table as a CSV file (RFC 4180), with the column names first. null: an empty field. */
export function sendCsv(res: ServerResponse, name: string, rows: readonly CsvRow[]): void {
  sendText(res, 200, rows.map(lineOf).join(''), {
    'Content-Type': 'text/csv; charset=utf-8; header=present',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
  })
}

function lineOf(row: CsvRow): string {
  return `${row.map((value) => fieldOf(value ?? '')).join(',')}\r\n`
}

/**
 * Prefixes text that a spreadsheet would evaluate as a formula with an apostrophe, and quotes a semicolon, which
 * separates fields in many locales.
 */
function fieldOf(value: string | number | bigint): string {
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r\n＝＋－＠]/u.test(value) ? `'${value}` : value
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
