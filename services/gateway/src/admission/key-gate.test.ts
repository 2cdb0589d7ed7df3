import { setImmediate } from 'node:timers/promises'
import { noRateLimits } from '@gateway/api/rates'
import type { IdentifiedKey, KeysAnswer } from '@gateway/ledger-protocol/ledger-reads'
import { refused } from '@gateway/ledger-protocol/ledger-refusal'
import { expect, test } from 'vitest'
import { openKeyGate } from './key-gate.ts'

const keyOf = (project: string, requestsPerMinute: number | null = null): IdentifiedKey => ({
  key: 'key_1',
  lineage: 'key_1',
  project,
  rates: { key: noRateLimits, project: { ...noRateLimits, requestsPerMinute } },
  capture: null,
})

/** Opens a gate whose ledger knows only keys that start with `real` and responds when the test releases it. */
function openGate({ maxWaiting, patienceMs = 60_000 }: { maxWaiting?: number; patienceMs?: number } = {}) {
  const asked: string[][] = []
  let held = Promise.withResolvers<void>()
  held.resolve()
  const counted: Record<string, number> = {}
  let nowMs = 0
  let limit: number | null = null
  const gate = openKeyGate({
    ledger: {
      async identifyKeys({ keyHashes }): Promise<KeysAnswer> {
        asked.push(keyHashes)
        await held.promise
        return {
          keys: keyHashes.map((hash) =>
            hash.startsWith('real') ? keyOf(`prj of ${hash}`, limit) : refused('key_invalid', {}),
          ),
        }
      },
    },
    metrics: { keysLookedUp: (outcome, count = 1) => void (counted[outcome] = (counted[outcome] ?? 0) + count) },
    ...(maxWaiting !== undefined && { maxWaiting }),
    patienceMs,
    now: () => nowMs,
  })
  return {
    identify: async (key: string, address = 'here') => (await gate.identify(key, address)).project,
    ratesOf: async (key: string) => (await gate.identify(key, 'here')).rates.project.requestsPerMinute,
    passTime: (ms: number) => void (nowMs += ms),
    setLimit: (requestsPerMinute: number) => void (limit = requestsPerMinute),
    asked,
    counted,
    hold: () => void (held = Promise.withResolvers()),
    release: () => held.resolve(),
    fail: () => held.reject(new Error('the ledger is away')),
  }
}

test('looks up a key once and caches its project', async () => {
  const { identify, asked } = openGate()
  expect([await identify('real 1'), await identify('real 1')]).toEqual(['prj of real 1', 'prj of real 1'])
  expect(asked).toEqual([['real 1']])
})

test('looks up the rate limits of a cached key again after five seconds, without delaying its request', async () => {
  const { ratesOf, asked, passTime, setLimit } = openGate()
  await ratesOf('real 1')
  setLimit(60)
  passTime(4_999)
  expect(await ratesOf('real 1')).toBe(null)
  expect(asked).toHaveLength(1)
  passTime(1)
  expect(await ratesOf('real 1')).toBe(null)
  await setImmediate()
  expect(await ratesOf('real 1')).toBe(60)
  expect(asked).toHaveLength(2)
})

test('uses no rate limits that are older than ten seconds', async () => {
  const { ratesOf, passTime, setLimit } = openGate()
  await ratesOf('real 1')
  setLimit(60)
  passTime(10_000)
  expect(await ratesOf('real 1')).toBe(60)
})

test('uses older rate limits of a cached key when a lookup fails, and waits for none in the next five seconds', async () => {
  const { ratesOf, passTime, hold, release, fail, setLimit } = openGate()
  await ratesOf('real 1')
  passTime(10_000)
  hold()
  const asked = ratesOf('real 1')
  await setImmediate()
  fail()
  expect(await asked).toBe(null)
  hold()
  passTime(4_999)
  expect(await ratesOf('real 1')).toBe(null)
  passTime(1)
  setLimit(60)
  const later = ratesOf('real 1')
  release()
  expect(await later).toBe(60)
})

test('uses older rate limits of a cached key while a lookup is slow', async () => {
  const { ratesOf, passTime, hold } = openGate({ patienceMs: 1 })
  await ratesOf('real 1')
  passTime(10_000)
  hold()
  expect(await ratesOf('real 1')).toBe(null)
})

test('looks up the keys of concurrent requests in one batch, each key once', async () => {
  const { identify, asked } = openGate()
  const keys = ['real 1', 'real 2', 'real 1', 'forged']
  const found = await Promise.allSettled(keys.map((key) => identify(key)))
  expect(found.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
  expect(asked).toEqual([['real 1', 'real 2', 'forged']])
})

test('caches the refusal of an unknown key briefly [key_invalid]', async () => {
  const { identify, asked, counted } = openGate()
  for (let n = 0; n < 5; n++)
    await expect(identify('forged')).rejects.toMatchObject({ code: 'key_invalid', status: 401 })
  expect(asked).toHaveLength(1)
  expect(counted).toEqual({ refused: 1 })
})

test('keeps a known key cached during a flood of forged ones', async () => {
  const { identify, asked } = openGate()
  await identify('real 1')
  await Promise.allSettled(Array.from({ length: 12_000 }, (_, n) => identify(`forged ${n}`, `address ${n}`)))
  const before = asked.length
  expect(await identify('real 1')).toBe('prj of real 1')
  expect(asked).toHaveLength(before)
})

test('serves other addresses while one address floods the key lookups [overloaded]', async () => {
  const { identify, hold, release } = openGate({ maxWaiting: 100 })
  hold()
  const flood = Array.from({ length: 200 }, (_, n) => identify(`forged ${n}`, 'there'))
  const refusals = Promise.allSettled(flood)
  await setImmediate()
  const other = identify('real 1', 'elsewhere')
  release()
  expect(await other).toBe('prj of real 1')
  const codes = (await refusals).map((each) =>
    each.status === 'rejected' ? (each.reason as { code: string }).code : '',
  )
  expect(codes.filter((code) => code === 'overloaded').length).toBeGreaterThanOrEqual(100)
})

test('fails the requests waiting on a failed lookup and retries for the next request', async () => {
  let fails = true
  const gate = openKeyGate({
    ledger: {
      async identifyKeys() {
        if (fails) throw new Error('the ledger is away')
        return { keys: [keyOf('prj_1')] }
      },
    },
    metrics: { keysLookedUp: () => {} },
  })
  await expect(gate.identify('real', 'here')).rejects.toThrow('the ledger is away')
  fails = false
  expect(await gate.identify('real', 'here')).toMatchObject({ project: 'prj_1' })
})
