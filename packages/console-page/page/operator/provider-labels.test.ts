import { describe, expect, test } from 'vitest'
import { attemptSteps, credentialText, errorRateText, failureText, providerState } from './provider-labels.ts'

const process = {
  service: 'gateway',
  startedAt: '2026-11-20T08:00:00.000Z',
  credential: 'file',
  credentialChangedAt: null,
  circuit: 'closed',
  circuitSince: '2026-11-20T08:00:00.000Z',
} as const
const calls = { calls: 100, failed: 0, rejected: 0 }

test.for([
  [{ calls: 0, failed: 0, rejected: 0 }, '–'],
  [{ calls: 5, failed: 0, rejected: 5 }, '–'],
  [{ calls: 1_000, failed: 1, rejected: 0 }, '0.1%'],
  [{ calls: 10_000, failed: 1, rejected: 0 }, '< 0.1%'],
  [{ calls: 10, failed: 3, rejected: 4 }, '50%'],
] as const)('the error rate of %j is %s', ([counts, text]) => {
  expect(errorRateText(counts)).toBe(text)
})

describe('the state of a provider', () => {
  test('is that of its circuit breakers, however few calls failed', () => {
    const processes = [process, { ...process, circuit: 'half-open' as const }]
    expect(providerState({ ...calls, processes })).toEqual({ tone: 'bad', text: 'Circuit open in 1 of 2 processes' })
  })
  test('is that it fails from an error rate of 5 % on', () => {
    expect(providerState({ ...calls, failed: 4, processes: [process] }).text).toBe('Healthy')
    expect(providerState({ ...calls, failed: 5, processes: [process] }).text).toBe('Failing')
  })
  test('is that it refuses all requests', () => {
    const refused = { calls: 5, failed: 0, rejected: 5, processes: [process] }
    expect(providerState(refused)).toEqual({ tone: 'warn', text: 'Requests refused' })
  })
  test('is that no process has it configured, or that it had no calls', () => {
    expect(providerState({ ...calls, processes: [] }).text).toBe('Not configured')
    expect(providerState({ calls: 0, failed: 0, rejected: 0, processes: [process] }).text).toBe('No calls')
  })
})

test('the place of a credential is named once, unless the processes differ', () => {
  expect(credentialText([process, process])).toBe('File')
  expect(credentialText([process, { ...process, credential: 'none' }])).toBe('File, None')
  expect(credentialText([])).toBe('–')
})

test('a failure has what the provider said', () => {
  expect(failureText({ kind: 'refused', status: 503, code: 'overloaded_error' })).toBe('Refused: 503 overloaded_error')
  expect(failureText({ kind: 'timeout', status: null, code: null })).toBe('Timed out')
})

test('a chart has all steps of the range, also those without calls', () => {
  const range = { from: '2026-11-20T08:25:00.000Z', to: '2026-11-20T08:41:00.000Z', stepMs: 300_000 }
  const steps = attemptSteps(range, [{ at: '2026-11-20T08:30:00.000Z', calls: 10, failed: 3, rejected: 2 }])
  expect(steps.map(({ from, values }) => [from.slice(11, 16), ...values])).toEqual([
    ['08:25', 0, 0, 0],
    ['08:30', 5, 3, 2],
    ['08:35', 0, 0, 0],
    ['08:40', 0, 0, 0],
  ])
})
