import { expect, test } from 'vitest'
import { readMigration } from './migrate.ts'

test('refuses a migration that ends its transaction', () => {
  expect(() => readMigration('1_a', 'CREATE TABLE t (a int);\ncommit;')).toThrow(
    'Migration 1_a opens or ends a transaction',
  )
  expect(() => readMigration('1_a', 'BEGIN;\nCREATE TABLE t (a int);')).toThrow('opens or ends a transaction')
})

test('accepts BEGIN and END in a function body', () => {
  const body =
    'CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n  PERFORM 1;\nEND;\n$$; -- no commit; here'
  expect(readMigration('1_a', body).transactional).toBe(true)
})

test('runs a concurrent index outside a transaction', () => {
  expect(readMigration('1_a', 'CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)').transactional).toBe(false)
  expect(readMigration('1_a', 'REINDEX TABLE CONCURRENTLY t').transactional).toBe(false)
  expect(readMigration('1_a', 'CREATE INDEX i ON t (a) -- not INDEX CONCURRENTLY').transactional).toBe(true)
})
