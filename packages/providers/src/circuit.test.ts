import { describe, expect, test } from 'vitest'
import { openCircuit, QUIET_MS } from './try-routes.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { FailureFacts } from './provider-failure.ts'

const failure = (facts: Partial<FailureFacts> = {}) =>
  new ProviderFailure({ kind: 'cut', provider: 'first', detail: 'x', ...facts })

/** Opens a circuit that trips at the third failure, for 100 ms of a clock that the test advances. */
function circuit() {
  const changes: string[] = []
  let nowMs = 0
  const it = openCircuit({ failures: 3, openMs: 100, changed: (state) => changes.push(state), nowMs: () => nowMs })
  const fail = (times: number, facts: Partial<FailureFacts> = {}) => {
    for (let i = 0; i < times; i++) it.failed(failure(facts))
  }
  return { ...it, changes, fail, pass: (ms: number) => (nowMs += ms) }
}

test('opens at the configured number of failures, then admits no call and reports how long', () => {
  const { admits, retryAfterMs, fail, changes, pass } = circuit()
  fail(2)
  expect([admits(), retryAfterMs()]).toEqual([true, 0])
  fail(1)
  pass(30)
  expect([admits(), retryAfterMs(), changes]).toEqual([false, 70, ['open']])
})

test('resets the failure count on a complete response, not on a started one', () => {
  const { admits, answered, completed, fail } = circuit()
  fail(2)
  completed()
  fail(2)
  answered()
  expect(admits()).toBe(true)
  fail(1)
  expect(admits()).toBe(false)
})

describe('after openMs', () => {
  function rested() {
    const it = circuit()
    it.fail(3)
    it.pass(100)
    return it
  }

  test('admits one probe per openMs', () => {
    const { admits, pass, changes } = rested()
    expect([admits(), admits(), admits()]).toEqual([true, false, false])
    pass(100)
    expect([admits(), admits()]).toEqual([true, false])
    expect(changes).toEqual(['open', 'half-open'])
  })

  test('closes once a probe gets a response, with the failure count reset', () => {
    const { admits, answered, fail, changes } = rested()
    admits()
    answered()
    fail(2)
    expect([admits(), admits(), changes]).toEqual([true, true, ['open', 'half-open', 'closed']])
  })

  test('opens again for openMs if the probe fails', () => {
    const { admits, fail, pass, changes } = rested()
    admits()
    fail(1)
    pass(99)
    expect(admits()).toBe(false)
    pass(1)
    expect([admits(), changes]).toEqual([true, ['open', 'half-open', 'open', 'half-open']])
  })

  test('closes if the provider refuses the probe as a bad or excess request', () => {
    for (const providerStatus of [400, 403, 404, 422, 429]) {
      const { admits, fail, changes } = rested()
      admits()
      fail(1, { kind: 'refused', providerStatus })
      expect(changes.at(-1)).toBe('closed')
    }
  })

  test('closes if the response to the probe is larger than allowed', () => {
    const { admits, fail, changes } = rested()
    admits()
    fail(1, { kind: 'too_large', limitBytes: 90 })
    expect(changes.at(-1)).toBe('closed')
  })
})

test('a call from before the opening closes it on a response and does not extend it on a failure', () => {
  const { admits, answered, fail, pass } = circuit()
  fail(3)
  pass(90)
  fail(20)
  pass(10)
  expect(admits()).toBe(true)
  answered()
  expect(admits()).toBe(true)
})

describe('without calls for QUIET_MS', () => {
  test('counts as closed after it opened, and the next call is still a probe', () => {
    const { admits, state, fail, pass, changes } = circuit()
    fail(3)
    pass(QUIET_MS - 1)
    expect(state()).toBe('open')
    pass(1)
    expect([state(), changes]).toEqual(['closed', ['open']])
    expect([admits(), state(), admits()]).toEqual([true, 'half-open', false])
    fail(1)
    expect([admits(), state()]).toEqual([false, 'open'])
  })

  test('counts as closed after a probe whose caller disconnected', () => {
    const { admits, state, fail, pass } = circuit()
    fail(3)
    pass(100)
    admits()
    pass(QUIET_MS)
    expect(state()).toBe('closed')
    expect([admits(), admits(), state()]).toEqual([true, false, 'half-open'])
  })

  test('counts as open while its probes fail', () => {
    const { admits, state, fail, pass } = circuit()
    fail(3)
    for (let n = 0; n < 9; n++) {
      pass(QUIET_MS / 2)
      admits()
      fail(1)
      expect(state()).toBe('open')
    }
  })
})

test('counts as open for all of openMs, however long that is', () => {
  let nowMs = 0
  const it = openCircuit({ failures: 1, openMs: 2 * QUIET_MS, changed: () => {}, nowMs: () => nowMs })
  it.failed(failure())
  nowMs = 2 * QUIET_MS - 1
  expect(it.state()).toBe('open')
  nowMs++
  expect(it.state()).toBe('closed')
})

describe('failure', () => {
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
    [{ kind: 'refused', providerStatus: 402 }],
  ])('%j counts toward opening', (facts) => {
    const { admits, fail } = circuit()
    fail(3, facts)
    expect(admits()).toBe(false)
  })

  test.each<[Partial<FailureFacts>]>([
    [{ kind: 'refused', providerStatus: 400 }],
    [{ kind: 'refused', providerStatus: 403 }],
    [{ kind: 'refused', providerStatus: 404 }],
    [{ kind: 'refused', providerStatus: 429 }],
    [{ kind: 'refused', providerStatus: 400, asked: false }],
    [{ kind: 'too_large', limitBytes: 90 }],
    [{ kind: 'circuit_open', asked: false }],
    [{ kind: 'busy', asked: false }],
  ])('%j does not count', (facts) => {
    const { admits, fail } = circuit()
    fail(30, facts)
    expect(admits()).toBe(true)
  })
})
