import { expect, test } from 'vitest'
import { statementNames } from './sql.ts'

test('the same text has the same name, another text another one', () => {
  const nameOf = statementNames()
  const first = nameOf({ sql: 'SELECT 1' })
  expect(nameOf({ sql: 'SELECT 2' })).not.toBe(first)
  expect(nameOf({ sql: 'SELECT 1' })).toBe(first)
})

test('after a thousand texts no more are named, and the known ones keep their names', () => {
  const nameOf = statementNames()
  const names = Array.from({ length: 1_100 }, (_, index) => nameOf({ sql: `SELECT ${index}` }))
  expect(new Set(names.slice(0, 1_000)).size).toBe(1_000)
  expect(new Set(names.slice(1_000))).toEqual(new Set(['']))
  expect(nameOf({ sql: 'SELECT 0' })).toBe(names[0])
})
