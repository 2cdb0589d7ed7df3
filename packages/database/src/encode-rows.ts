// Rows of a row type, as Postgres writes an array of them in text: faster to make and to read than JSON or parallel arrays.

/** Where the columns of a row type stand, by the field of an item that fills them: `maxTokens` fills max_tokens. */
export interface RowType {
  readonly columns: ReadonlyMap<string, number>
  /** A row of nulls, of the width that the type has in the database: that may be a release ahead, with more columns at the end. */
  nulls: readonly string[]
}

export function openRowType(columns: readonly string[]): RowType {
  return { columns: new Map(columns.map((column, n) => [fieldOf(column), n])), nulls: nullsOf(columns.length) }
}

export function nullsOf(width: number): readonly string[] {
  return Array.from({ length: width }, () => '')
}

/**
 * A list of items as rows. The fields of an object inside an item are columns beside the others, so that an item of the wire is a
 * row as it is. A field without a column is left out, and a column without a field is null.
 */
export function encodeRows(type: RowType, items: readonly object[]): string {
  let text = '{'
  for (const item of items) text += `${text.length > 1 ? ',' : ''}${quote(encodeRow(type, item))}`
  return `${text}}`
}

/** One item as a row. */
export function encodeRow(type: RowType, item: object): string {
  const row = type.nulls.slice()
  fill(row, type.columns, item as Fields)
  return `(${row.join(',')})`
}

type Fields = Record<string, unknown>

function fill(row: string[], columns: RowType['columns'], item: Fields): void {
  for (const field in item) {
    const value = item[field]
    if (value === null || value === undefined) continue
    const n = columns.get(field)
    if (n !== undefined) row[n] = encodeField(value)
    else if (typeof value === 'object' && !Array.isArray(value)) fill(row, columns, value as Fields)
  }
}

function encodeField(value: unknown): string {
  if (Array.isArray(value)) return quote(`{${value.map((each) => quote(String(each))).join(',')}}`)
  const text = String(value)
  return PLAIN.test(text) ? text : quote(text)
}

const PLAIN = /^[\w./:@+-]+$/
const SPECIAL = /["\\]/g
const ESCAPED = String.raw`\$&`

function quote(text: string): string {
  return `"${text.replaceAll(SPECIAL, ESCAPED)}"`
}

function fieldOf(column: string): string {
  return column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
