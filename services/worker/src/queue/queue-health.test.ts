import { expect, test } from 'vitest'
import { isNotHung, isPolled } from './open-queue.ts'

const polledAt = (ms: number) => ({ lastPolledMs: () => ms })
const answers = () => null
const away = () => 'does not answer'

test('readiness fails if the queue was not polled for more than ten seconds', () => {
  expect(isPolled(polledAt(0), () => 10_000)()).toBe(null)
  expect(isPolled(polledAt(0), () => 10_001)()).toBe('has not been polled for 10 seconds')
})

test('liveness fails only if the queue hangs while Redis responds', async () => {
  expect(await isNotHung(polledAt(0), answers, () => 60_000)()).toBe(null)
  expect(await isNotHung(polledAt(0), away, () => 600_000)()).toBe(null)
  expect(await isNotHung(polledAt(0), answers, () => 60_001)()).toMatch('60 seconds')
})
