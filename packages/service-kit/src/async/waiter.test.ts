import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { openWaiter } from './waiting.ts'

const HOUR_MS = 3_600_000

test('a waiter returns when it is woken', async () => {
  const waiter = openWaiter()
  const waiting = waiter.next(HOUR_MS)
  waiter.wake()
  expect(await waiting).toBe('woken')
})

test('a waiter returns late when its time is up', async () => {
  expect(await openWaiter().next(1)).toBe('late')
})

test('a wake without a wait ends the next wait at once, and only that one', async () => {
  const waiter = openWaiter()
  waiter.wake()
  waiter.wake()
  expect(await waiter.next(HOUR_MS)).toBe('woken')
  expect(await waiter.next(1)).toBe('late')
})

test('a wake at the same time as the timeout is not lost', async () => {
  const waiter = openWaiter()
  const waiting = waiter.next(1)
  await new Promise((resolve) => setTimeout(resolve, 1))
  waiter.wake()
  const how = [await waiting, await waiter.next(1)]
  expect(how.filter((one) => one === 'woken')).toHaveLength(1)
})

test('an aborted signal wakes a waiter once, also if it aborted before', async () => {
  const [before, later] = [new AbortController(), new AbortController()]
  before.abort()
  const waiter = openWaiter([before.signal, later.signal])
  expect(await waiter.next(HOUR_MS)).toBe('woken')
  const waiting = waiter.next(HOUR_MS)
  later.abort()
  expect(await waiting).toBe('woken')
  expect(await waiter.next(1)).toBe('late')
})

test('a closed waiter no longer listens to its signals', () => {
  const { signal } = new AbortController()
  const waiter = openWaiter([signal])
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  waiter.close()
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})
