import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { sqlFunctionsModule } from './generate-client.ts'

const file = (name: string, sql: string) => ({ name, sql, checksum: '', needs: [] })

test('writes each signature, nullable where its comment says so', () => {
  const text = sqlFunctionsModule([
    file(
      'money.take',
      `-- Takes.
CREATE OR REPLACE FUNCTION money.take(
  of_project text,
  up_to integer, -- or null
  OUT taken bigint,
  OUT left_over text[] -- or null
) LANGUAGE plpgsql
AS $$`,
    ),
  ])
  expect(text).toContain("takes: { of_project: Taken['text']; up_to: Taken['integer'] | null }")
  expect(text).toContain("answers: { taken: Answered['bigint']; left_over: Answered['text[]'] | null }")
  expect(text).toContain("'money.take': { of_project: 'text', up_to: 'integer' },")
})

test('leaves out views and functions that services cannot call', () => {
  const text = sqlFunctionsModule([
    file('money.view', 'CREATE OR REPLACE VIEW money.view AS SELECT 1'),
    file('money.helper', 'CREATE OR REPLACE FUNCTION money.helper(\n  a text\n) RETURNS text LANGUAGE sql'),
    file(
      'money.inner',
      'CREATE OR REPLACE FUNCTION money.inner(\n  items money.admission[],\n  OUT n integer\n) LANGUAGE sql',
    ),
  ])
  expect(text).not.toContain("'money.")
})

test('treats a view without rows as a row type, which a function can take a list of', () => {
  const text = sqlFunctionsModule([
    file(
      'money.item',
      'CREATE OR REPLACE VIEW money.item AS\nSELECT NULL::text AS id, -- its own\n       NULL::integer[] AS of_nodes\n WHERE false;',
    ),
    file('money.take', 'CREATE OR REPLACE FUNCTION money.take(\n  items money.item[]\n) RETURNS void LANGUAGE sql'),
  ])
  expect(text).toContain('\'money.item\': ["id","of_nodes"],')
  expect(text).toContain('takes: { items: readonly object[] }')
})

test('refuses a line with two arguments', () => {
  const two = file('money.two', 'CREATE OR REPLACE FUNCTION money.two(\n  a text, b text\n) RETURNS void LANGUAGE sql')
  expect(() => sqlFunctionsModule([two])).toThrow('money.two: "a text, b text" is not one argument.')
})

test('make_caller_and_model takes the columns of its row type in their order', async () => {
  const folder = path.resolve(import.meta.dirname, '../../../prisma/functions/money')
  const [view, constructor] = await Promise.all(
    ['caller_and_model', 'make_caller_and_model'].map((name) => readFile(path.join(folder, `${name}.sql`), 'utf8')),
  )
  const columns = [...view!.matchAll(/NULL::([\w[\]]+) AS (\w+)/g)].map(([, type, name]) => `${name} ${type}`)
  const taken = [...constructor!.matchAll(/^ {2}(\w+ [\w[\]]+) DEFAULT NULL/gm)].map(([, parameter]) => parameter)
  const [, row] = /SELECT ROW \(([^)]*)\)/.exec(constructor!)!
  expect(taken).toEqual(columns)
  expect(row!.trim().split(/,\s*/)).toEqual(columns.map((column) => column.split(' ')[0]))
})
