import { plain } from './plain.ts'
import type { Given } from './command-row.ts'

type Out = Pick<Given, 'io' | 'options'>
export type Cell = string | number | null
/** A name that starts with `>` aligns its column to the right. */
type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

/** Prints records as a table, or as one line of JSON each. */
export function printRows<Row>(out: Out, rows: readonly Row[], columns: Columns<Row>): void {
  if (out.options.json === true) return rows.forEach((row) => printJson(out, row))
  const titles = Object.keys(columns)
  const cells = rows.map((row) =>
    titles.map((title) => plain(String(columns[title]!(row) ?? '–')).replaceAll('\n', ' ')),
  )
  const shown = [titles.map((title) => title.replace('>', '').toUpperCase()), ...cells]
  const widths = titles.map((_, n) => Math.max(...shown.map((row) => row[n]!.length)))
  for (const [at, row] of shown.entries()) {
    const line = row.map((cell, n) =>
      titles[n]!.startsWith('>') ? cell.padStart(widths[n]!) : cell.padEnd(widths[n]!),
    )
    const text = line.join('  ').trimEnd()
    // Headings are not data: a piped table has none.
    if (at === 0) printHead(out, text)
    else out.io.write(`${text}\n`)
  }
  if (rows.length === 0) out.io.say('No results.')
}

function printHead({ io }: Out, text: string): void {
  if (!io.isTerminal.output) return
  io.write(`${text}\n`)
}

/** Prints one record as names and values, or as a line of JSON. */
export function printRecord<Row>(out: Out, row: Row, fields: Columns<Row>): void {
  if (out.options.json === true) return printJson(out, row)
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  for (const [name, valueOf] of Object.entries(fields))
    out.io.write(`${name.padEnd(width)}  ${plain(String(valueOf(row) ?? '–'))}\n`)
}

export function printJson({ io }: Out, value: unknown): void {
  io.write(`${JSON.stringify(value)}\n`)
}
