import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openConnectionTurns, queryAs } from './request-limits.ts'

function openTurns(connections: number, waitMs?: number) {
  const take = openConnectionTurns(connections, waitMs)
  const held: { party: string; giveBack: () => void }[] = []
  function query(party: string): Promise<unknown> {
    const asked = queryAs({ party }, take).then((giveBack) => held.push({ party, giveBack }))
    asked.catch(() => {}) // those that still wait at the end of a test
    return asked
  }
  return { held, query, parties: () => held.map(({ party }) => party) }
}

test('leaves half of the connections to others while one user asks for 500', async () => {
  const { held, query, parties } = openTurns(6)
  for (let n = 0; n < 500; n++) void query('busy')
  await turn()
  expect(parties()).toEqual(['busy', 'busy', 'busy'])
  void query('quiet')
  await turn()
  expect(parties()).toEqual(['busy', 'busy', 'busy', 'quiet'])
  held[0]!.giveBack()
  await turn()
  expect(parties()).toEqual(['busy', 'busy', 'busy', 'quiet', 'busy'])
})

test('serves users with waiting queries in turn', async () => {
  const { held, query, parties } = openTurns(2)
  for (const party of ['a', 'b', 'c', 'c', 'd']) void query(party)
  await turn()
  for (let n = 0; n < 3; n++) {
    held[n]!.giveBack()
    await turn()
  }
  expect(parties()).toEqual(['a', 'b', 'c', 'd', 'c'])
})

test('fails a query that gets no connection in time, and passes its turn on', async () => {
  const { held, query, parties } = openTurns(1, 1)
  await query('a')
  await expect(query('b')).rejects.toThrow('timeout exceeded when trying to connect')
  const next = query('c').catch(() => 'late')
  held[0]!.giveBack()
  await next
  expect(parties()).toEqual(['a', 'c'])
})

test('takes a connection for queries outside of any request', async () => {
  const take = openConnectionTurns(1)
  const giveBack = await take()
  giveBack()
  await take()
})
