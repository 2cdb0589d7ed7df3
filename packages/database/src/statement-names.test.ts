import { expect, test } from 'vitest'
import { statementNames } from './sql.ts'

test('equal texts get the same name, different texts different ones', () => {
  const nameOf = statementNames()
  const first = nameOf({ sql: 'SELECT 1' })
  expect(nameOf({ sql: 'SELECT 2' })).not.toBe(first)
  expect(nameOf({ sql: 'SELECT 1' })).toBe(first)
})

test('stops naming texts after a thousand, and keeps the names given', () => {
  const nameOf = statementNames()
  const names = Array.from({ length: 1_100 }, (_, index) => nameOf({ sql: `SELECT ${index}` }))
  expect(new Set(names.slice(0, 1_000)).size).toBe(1_000)
  expect(new Set(names.slice(1_000))).toEqual(new Set(['']))
  expect(nameOf({ sql: 'SELECT 0' })).toBe(names[0])
})
