import { expect, test } from 'vitest'
import { complete, failureOf, openStream, readAll, toFirst, twoProviders } from './providers.fixture.ts'
import { ReaderStalled } from './provider-failure.ts'

const { first, second, failures, open } = await twoProviders()
const kind = 'openai-compatible'

/** A call whose prompt the simulated provider can tell from others. */
const saying = (content: string) => ({ parameters: { messages: [{ role: 'user', content }] } })
const busy = { project: 'prj_busy', ...saying('busy') }
const quiet = { project: 'prj_quiet', ...saying('quiet') }

test('a project that fills its share of the connections leaves one to another project', async () => {
  const providers = open(kind, { connections: 4 })
  await first.control.setFaults([{ prompt: 'busy', hold: true }])
  const held = Array.from({ length: 10 }, () => complete(providers, busy))
  await first.control.waitForCalls(3)
  for (let n = 0; n < 5; n++) await complete(providers, quiet)
  expect(providers.connections()[0]).toEqual({ provider: 'first', used: 3, waiting: 7 })
  expect(await first.control.countCalls({ prompt: 'busy' })).toBe(3)
  await first.control.clearFaults()
  await first.control.release()
  await Promise.all(held)
  expect(providers.connections()[0]).toEqual({ provider: 'first', used: 0, waiting: 0 })
})

test('calls that wait in vain are not sent, retried or counted as failures, and keep the circuit closed', async () => {
  const [refused, changes]: [unknown[], unknown[]] = [[], []]
  const providers = open(
    kind,
    { connections: 1, maxWaiting: 4, waitMs: 1, tries: 2, circuitFailures: 2 },
    { noConnection: (facts) => refused.push(facts), circuitChanged: (change) => changes.push(change) },
  )
  await first.control.setFaults([{ hold: true, times: 1 }])
  const held = complete(providers)
  await first.control.waitForCalls(1)
  const waiting = Array.from({ length: 3 }, () => failureOf(complete(providers)))
  for (const failure of await Promise.all(waiting))
    expect(failure).toMatchObject({ kind: 'busy', asked: false, provider: 'first' })
  expect(refused).toEqual(['full', 'late', 'late'].map((why) => ({ provider: 'first', why })))
  await first.control.release()
  await held
  await complete(providers)
  expect(await first.control.countCalls()).toBe(2)
  expect([failures, changes]).toEqual([[], []])
})

test('a call that gets no connection goes to the next provider of its routes', async () => {
  const providers = open(kind, {}, {}, { connections: 1, maxWaiting: 0 })
  await first.control.setFaults([{ hold: true, times: 1 }])
  const held = complete(providers)
  await first.control.waitForCalls(1)
  await complete(providers, { routes: [...toFirst, { provider: 'second', model: 'sim-swift' }] })
  expect(await second.control.countCalls()).toBe(1)
  await first.control.release()
  await held
})

test('the wait for a connection does not count as time of the provider', async () => {
  const providers = open(kind, { firstByteMs: 300 }, {}, { connections: 1 })
  await first.control.setFaults([{ stall: { afterChunk: 5 }, times: 1 }])
  await second.control.setFaults([{ stall: 'before-first-byte' }])
  const reader = (await openStream(providers))[Symbol.asyncIterator]()
  await reader.next()
  const waiting = complete(providers)
  // A call that was sent later is already too late.
  expect(await failureOf(complete(providers, { routes: [{ provider: 'second', model: 'sim-swift' }] }))).toMatchObject({
    kind: 'timeout',
  })
  await reader.return!()
  expect((await waiting).choices).toHaveLength(1)
})

test('a caller that disconnects leaves the queue at once, and a call that was sent continues', async () => {
  const providers = open(kind, { connections: 1 })
  await first.control.setFaults([{ hold: true, times: 1 }])
  const leaving = new AbortController()
  const held = complete(providers, { disconnected: leaving.signal })
  await first.control.waitForCalls(1)
  const left = complete(providers, { ...quiet, disconnected: leaving.signal })
  const next = complete(providers, busy)
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  expect(providers.connections()[0]).toMatchObject({ used: 1, waiting: 1 })
  await first.control.release()
  expect((await held).choices).toHaveLength(1)
  await next
  expect(await first.control.countCalls({ prompt: 'quiet' })).toBe(0)
})

test('a stream whose reader takes nothing is ended, and its connection is free', async () => {
  const providers = open(kind, { connections: 1 }, { unreadMs: 20 })
  await first.control.setFaults([{ text: 'unread '.repeat(100_000), times: 1 }])
  const chunks = await openStream(providers, { outputCap: 200_000 })
  expect(await first.control.waitForCalls(1, { outcome: 'aborted' })).toBe(1)
  expect(providers.connections()[0]).toMatchObject({ used: 0 })
  await expect(readAll(chunks)).rejects.toThrow(ReaderStalled)
  await complete(providers)
  expect(failures).toEqual([])
})
