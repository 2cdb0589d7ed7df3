import path from 'node:path'
import { expect, test } from 'vitest'
import { openRepository } from './references/repository.ts'

// A row of a table must have as many cells as its head: one with fewer or more has text in the wrong place.

const root = path.resolve(import.meta.dirname, '..')
const cellsOf = (row: string) => row.replaceAll('\\|', '').split('|').length

function crookedRows(text: string): string[] {
  const crooked: string[] = []
  let head: string | null = null
  let fenced = false
  for (const line of text.split('\n')) {
    if (line.trimStart().startsWith('```')) fenced = !fenced
    const row = line.trim()
    if (fenced || !row.startsWith('|')) head = null
    else if (head === null) head = row
    else if (cellsOf(row) !== cellsOf(head)) crooked.push(row)
  }
  return crooked
}

test('every row of every table has as many cells as its head', () => {
  const { paths, read } = openRepository(root)
  const pages = paths.filter((file) => file.endsWith('.md'))
  expect(pages.length).toBeGreaterThan(20)
  const crooked = pages.flatMap((page) => crookedRows(read(page)).map((row) => `${page}: ${row}`))
  expect(crooked).toEqual([])
})

test('a row that is cut or joined to another is reported', () => {
  expect(crookedRows('| a | b |\n|---|---|\n| 1 | 2 |\n| 1 \\| 2 | 3 |\n')).toEqual([])
  expect(crookedRows('| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |\n')).toEqual(['| 1 |', '| 1 | 2 | 3 |'])
  expect(crookedRows('```\n| a | b |\n| 1 |\n```\n')).toEqual([])
})
