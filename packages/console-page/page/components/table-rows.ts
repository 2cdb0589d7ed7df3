import { csvText, type CsvRow } from '@gateway/api/csv-text'

/** Rows that have all words of a search, in any order, ignoring case and accents. */
export function searchedRows<Row>(rows: Row[], search: string, textOf: (row: Row) => string): Row[] {
  const words = plain(search).split(/\s+/).filter(Boolean)
  if (words.length === 0) return rows
  return rows.filter((row) => {
    const text = plain(textOf(row))
    return words.every((word) => text.includes(word))
  })
}

function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

/** Column with the value that a CSV file has of it. */
interface CsvColumn<Row> {
  head: string
  csv?(row: Row): CsvRow[number]
}

/** The rows as CSV: the columns that have a value for it. */
export function tableCsv<Row>(columns: CsvColumn<Row>[], rows: Row[]): string {
  const kept = columns.filter(({ csv }) => csv !== undefined)
  return csvText([kept.map(({ head }) => head), ...rows.map((row) => kept.map(({ csv }) => csv?.(row) ?? null))])
}
