import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { callFunction } from './call-function.ts'
import { openDatabase } from './client.ts'

liveTest('a function is called by the names of its arguments, in any order', async ({ database, onTestFinished }) => {
  const { sql, close } = await openDatabase({ url: database.ledgerUrl, poolSize: 1 })
  onTestFinished(close)
  const funding = { by_person: 'per_1', amount_micro: 5n, funding: 'fnd_1', to_project: 'prj_called' }
  expect(await callFunction(sql, 'money.fund', funding)).toEqual({ fresh: true, recorded: 5n })
  expect(await callFunction(sql, 'money.fund', { ...funding, amount_micro: 6 })).toEqual({
    fresh: false,
    recorded: 5n,
  })
})
