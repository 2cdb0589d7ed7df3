import { describe, expect, test } from 'vitest'
import { openCircuit } from './try-routes.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { FailureFacts } from './provider-failure.ts'

const failure = (facts: Partial<FailureFacts> = {}) =>
  new ProviderFailure({ kind: 'cut', provider: 'first', detail: 'x', ...facts })

/** A circuit that opens at the third failure and stays open for 100 ms of a clock that the test moves. */
function circuit() {
  const changes: string[] = []
  let nowMs = 0
  const it = openCircuit({ failures: 3, openMs: 100, changed: (state) => changes.push(state), nowMs: () => nowMs })
  const fail = (times: number, facts: Partial<FailureFacts> = {}) => {
    for (let i = 0; i < times; i++) it.failed(failure(facts))
  }
  return { ...it, changes, fail, pass: (ms: number) => (nowMs += ms) }
}

test('it opens at this many failures, admits no one while it is open, and says how long', () => {
  const { admits, retryAfterMs, fail, changes, pass } = circuit()
  fail(2)
  expect([admits(), retryAfterMs()]).toEqual([true, 0])
  fail(1)
  pass(30)
  expect([admits(), retryAfterMs(), changes]).toEqual([false, 70, ['open']])
})

test('a complete answer between failures starts the count again; that one has begun does not', () => {
  const { admits, answered, completed, fail } = circuit()
  fail(2)
  completed()
  fail(2)
  answered()
  expect(admits()).toBe(true)
  fail(1)
  expect(admits()).toBe(false)
})

describe('when it has rested', () => {
  function rested() {
    const it = circuit()
    it.fail(3)
    it.pass(100)
    return it
  }

  test('one call is the probe, and another only after the same time again', () => {
    const { admits, pass, changes } = rested()
    expect([admits(), admits(), admits()]).toEqual([true, false, false])
    pass(100)
    expect([admits(), admits()]).toEqual([true, false])
    expect(changes).toEqual(['open', 'half-open'])
  })

  test('an answer that begins closes it, and it takes as many failures as ever to open again', () => {
    const { admits, answered, fail, changes } = rested()
    admits()
    answered()
    fail(2)
    expect([admits(), admits(), changes]).toEqual([true, true, ['open', 'half-open', 'closed']])
  })

  test('a failure opens it for as long again', () => {
    const { admits, fail, pass, changes } = rested()
    admits()
    fail(1)
    pass(99)
    expect(admits()).toBe(false)
    pass(1)
    expect([admits(), changes]).toEqual([true, ['open', 'half-open', 'open', 'half-open']])
  })

  test('a probe that is refused for what it asks shows that the provider lives', () => {
    for (const providerStatus of [400, 404, 422, 429]) {
      const { admits, fail, changes } = rested()
      admits()
      fail(1, { kind: 'refused', providerStatus })
      expect(changes.at(-1)).toBe('closed')
    }
  })
})

test('calls from before the opening close it by an answer, and put nothing off by a failure', () => {
  const { admits, answered, fail, pass } = circuit()
  fail(3)
  pass(90)
  fail(20)
  pass(10)
  expect(admits()).toBe(true)
  answered()
  expect(admits()).toBe(true)
})

describe('of failures', () => {
  test.each<[Partial<FailureFacts>]>([
    [{ kind: 'unreachable' }],
    [{ kind: 'timeout' }],
    [{ kind: 'cut', afterFirstByte: true }],
    [{ kind: 'garbage' }],
    [{ kind: 'too_large' }],
    [{ kind: 'refused' }],
    [{ kind: 'refused', providerStatus: 500 }],
    [{ kind: 'refused', providerStatus: 529 }],
    [{ kind: 'refused', providerStatus: 401 }],
  ])('%j counts', (facts) => {
    const { admits, fail } = circuit()
    fail(3, facts)
    expect(admits()).toBe(false)
  })

  test.each<[Partial<FailureFacts>]>([
    [{ kind: 'refused', providerStatus: 400 }],
    [{ kind: 'refused', providerStatus: 404 }],
    [{ kind: 'refused', providerStatus: 429 }],
    [{ kind: 'refused', providerStatus: 400, asked: false }],
    [{ kind: 'circuit_open', asked: false }],
  ])('%j does not', (facts) => {
    const { admits, fail } = circuit()
    fail(30, facts)
    expect(admits()).toBe(true)
  })
})
