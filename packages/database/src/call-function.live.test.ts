import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { ask } from '@gateway/testbed/ask'
import { freshDatabase } from '@gateway/testbed/fresh-database'
import { liveTest } from '@gateway/testbed/live-test'
import fc from 'fast-check'
import { expect } from 'vitest'
import { callFunction, encodeRows, openRowType } from './call-function.ts'
import { openDatabase } from './client.ts'

const root = path.resolve(import.meta.dirname, '../../..')

liveTest('callFunction passes arguments by name, in any order', async ({ database, onTestFinished }) => {
  const { sql, close } = await openDatabase({ url: database.ledgerUrl, poolSize: 1 })
  onTestFinished(close)
  const funding = { by_user: 'usr_1', amount_micro: 5n, funding: 'fnd_1', to_project: 'prj_called' }
  expect(await callFunction(sql, 'money.fund', funding)).toEqual({ fresh: true, recorded: 5n })
  expect(await callFunction(sql, 'money.fund', { ...funding, amount_micro: 6 })).toEqual({
    fresh: false,
    recorded: 5n,
  })
})

liveTest(
  'callFunction encodes items as rows, with any text, lists, numbers, nested fields and missing fields',
  async ({ database, onTestFinished }) => {
    const { sql, close } = await openDatabase({ url: database.ledgerUrl, poolSize: 1 })
    onTestFinished(close)
    const type = openRowType(['id', 'pair', 'parameters', 'max_tokens', 'key'])
    const ask = (items: object[]) =>
      sql.query<object>(`SELECT id, pair, parameters, max_tokens AS "maxTokens", key FROM unnest($1::pg_temp.item[])`, [
        encodeRows(type, items),
      ])
    await sql.query(
      'CREATE TYPE pg_temp.item AS (id text, pair integer, parameters text[], max_tokens integer, key text)',
    )
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '"', '\\', ',', '(', ')', '{', '}', '\n', "'", 'ü', '😀', 'NULL'),
    })
    const item = fc.record({
      id: text,
      pair: fc.integer({ min: -9, max: 9 }),
      parameters: fc.array(fc.option(text)),
      key: text,
    })
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1 }), async (items) => {
        const rows = await ask(items.map(({ key, ...others }) => ({ ...others, inner: { key, unknown: 1 } })))
        expect(rows).toEqual(items.map((each) => ({ ...each, maxTokens: null })))
      }),
    )
  },
)

liveTest(
  'callFunction adapts its rows to a database that is a release ahead, and to one that is not',
  async ({ database, onTestFinished }) => {
    const { sql, close } = await openDatabase({ url: database.ledgerUrl, poolSize: 1 })
    onTestFinished(close)
    const view = await readFile(path.join(root, 'prisma/functions/money/start_question.sql'), 'utf8')
    const [, columns] = /^(CREATE OR REPLACE VIEW [^]*?)\n WHERE false;/m.exec(view)!
    await ask(database.adminUrl, `${columns!.replaceAll(/ --.*/g, '')}, NULL::text AS added WHERE false`)
    const questions = [{ id: 'exe_1', project: 'prj_1', sandbox: 'acme/flow', scope: 'acme/flow' }]
    for (let time = 0; time < 2; time++) {
      const { facts } = await callFunction(sql, 'money.read_starts', { questions, max_open: 1 })
      expect(JSON.parse(facts)).toMatchObject([{ project: 'prj_1', sandbox: null }])
    }
    const before = await freshDatabase()
    onTestFinished(before.drop)
    const older = await openDatabase({ url: before.ledgerUrl, poolSize: 1 })
    onTestFinished(older.close)
    const { facts } = await callFunction(older.sql, 'money.read_starts', { questions, max_open: 1 })
    expect(JSON.parse(facts)).toHaveLength(1)
  },
)
