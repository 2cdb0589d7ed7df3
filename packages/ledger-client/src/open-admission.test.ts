import { expect, test, vi } from 'vitest'
import type { RefusedItem } from '@gateway/ledger-protocol/ledger-outcomes'
import { openAdmission } from './instance.ts'

const refused: RefusedItem = {
  kind: 'refused',
  code: 'context_limit',
  facts: { promptTokens: 9, outputCap: 1, contextLength: 5, maxOutputTokens: 5 },
}
const admitted = { kind: 'admitted' as const }
type Ask = (counted: number | null) => Promise<typeof admitted | RefusedItem>
/** A ledger that admits prompts counted as small enough. */
const ledger = () => vi.fn<Ask>(async (counted) => (counted !== null && counted <= 4 ? admitted : refused))

test('counts the tokens and asks again if the prompt is refused by its size in bytes', async () => {
  const ask = ledger()
  const admit = openAdmission({ ask, count: async () => ({ kind: 'counted', tokens: 4 }) })
  expect(await admit()).toEqual(admitted)
  expect(ask.mock.calls).toEqual([[null], [4]])
})

test('counts the tokens once, even if the admission is requested again', async () => {
  const count = vi.fn<() => Promise<{ kind: 'counted'; tokens: number }>>(async () => ({ kind: 'counted', tokens: 5 }))
  const ask = ledger()
  const admit = openAdmission({ ask, count })
  expect([await admit(), await admit()]).toEqual([refused, refused])
  expect(ask.mock.calls).toEqual([[null], [5], [5]])
  expect(count).toHaveBeenCalledTimes(1)
})

test('returns a refusal that no count can change', async () => {
  const ask = ledger()
  const admit = openAdmission({ ask, count: async () => ({ kind: 'stands' }) })
  expect(await admit()).toEqual(refused)
  expect(ask).toHaveBeenCalledTimes(1)
})

test('returns uncounted if there was no time to count, and counts on the next request', async () => {
  const counts = [{ kind: 'busy' }, { kind: 'counted', tokens: 4 }] as const
  let time = 0
  const admit = openAdmission({ ask: ledger(), count: async () => counts[time++]! })
  expect(await admit()).toEqual({ kind: 'uncounted' })
  expect(await admit()).toEqual(admitted)
})

test('does not ask again if the ledger does not answer', async () => {
  const ask = vi.fn<() => Promise<null>>(async () => null)
  expect(await openAdmission({ ask, count: async () => ({ kind: 'busy' }) })()).toBeNull()
  expect(ask).toHaveBeenCalledTimes(1)
})
