import { csvText, type CsvRow } from '@gateway/api/csv-text'
import { sendText } from '@gateway/service-kit/http/answers'
import type { ServerResponse } from 'node:http'

/** Sends a table as a CSV file, with the column names first. */
export function sendCsv(res: ServerResponse, name: string, rows: readonly CsvRow[]): void {
  sendText(res, 200, csvText(rows), {
    'Content-Type': 'text/csv; charset=utf-8; header=present',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
  })
}
