import { expect, test } from 'vitest'
import { searchedRows, tableCsv } from './table-rows.ts'

test('finds rows that have all words of a search, ignoring case and accents', () => {
  const rows = ['Émile Zola', 'emil', 'Zoë']
  const found = (search: string) => searchedRows(rows, search, (row) => row)
  expect(found(' EMIL zola')).toEqual(['Émile Zola'])
  expect(found('zo')).toEqual(['Émile Zola', 'Zoë'])
  expect(found('  ')).toEqual(rows)
  expect(found('x')).toEqual([])
})

test('writes the columns that have a value for CSV, and escapes text that looks like a formula', () => {
  const columns = [
    { head: 'Name', csv: (row: { name: string; micro: number | null }) => row.name },
    { head: 'Actions' },
    { head: 'Micro', csv: (row: { micro: number | null }) => row.micro },
  ]
  const rows = [
    { name: '=HYPERLINK("x")', micro: -5 },
    { name: '+1', micro: null },
    { name: '-1', micro: 0 },
    { name: '@a, b', micro: 1 },
  ]
  expect(tableCsv(columns, rows).split('\r\n')).toEqual([
    'Name,Micro',
    `"'=HYPERLINK(""x"")",-5`,
    "'+1,",
    "'-1,0",
    `"'@a, b",1`,
    '',
  ])
})
