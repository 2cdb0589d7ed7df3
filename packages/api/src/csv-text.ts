export type CsvRow = readonly (string | number | bigint | null)[]

/** A table as CSV (RFC 4180), with the column names first. null: an empty field. */
export function csvText(rows: readonly CsvRow[]): string {
  return rows.map((row) => `${row.map((value) => fieldOf(value ?? '')).join(',')}\r\n`).join('')
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
