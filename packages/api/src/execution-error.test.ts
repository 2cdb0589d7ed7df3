import { describe, expect, test } from 'vitest'
import { type StartedBy, errorOfExecution, errorOfNode } from './execution.ts'
import { refuse, type RefusalBody, type RefusalCode } from './refusal.ts'
import { refusals } from './refusals.ts'

const codes = Object.keys(refusals) as RefusalCode[]
const triggers: StartedBy[] = ['invoke', 'chat', 'user']

/** Facts for any row; only what the rows read. */
const anyFacts = new Proxy(
  {},
  {
    get: (_, name) =>
      ['fields', 'nodes', 'problems', 'resources', 'scopes'].includes(String(name))
        ? []
        : name === 'resolution' || name === 'cure'
          ? 'Mend it.'
          : '7',
  },
)

/** A stored error, as a direct call reports it. */
const stored = (code: RefusalCode): RefusalBody => refuse(code, anyFacts as never).body

/** Phrases that only the response of a direct call may have. */
const OF_A_DIRECT_CALL = [
  /nothing (is|was) (charged|reserved)/i,
  /retry-after/i,
  /(repeat|retry) the (same )?request/i,
  /same (request|idempotency)/i,
  /GET \/v1\/models/,
]

describe.each(triggers)('the error of an execution started by %s', (startedBy) => {
  test.each(codes)('%s states the charge and how to run it again, and has no wording of a direct call', (code) => {
    const error = stored(code)
    const execution = errorOfExecution(error, { id: 'exe_1', startedBy, chargedMicro: 42, ended: true })
    const node = errorOfNode(error, { startedBy, chargedMicro: 42 })
    for (const { message, resolution } of [execution, node]) {
      for (const words of OF_A_DIRECT_CALL) expect(`${message} ${resolution}`).not.toMatch(words)
      expect(message).toContain('charged $0.000042')
      expect(resolution).toMatch(/again/)
      if (startedBy === 'invoke') expect(resolution).toMatch(/with a new Idempotency-Key.*keeps returning/)
      if (startedBy === 'chat') expect(resolution).toMatch(/new Idempotency-Key if it had one.*keeps returning/)
      if (startedBy === 'user') expect(resolution).not.toContain('Idempotency-Key')
      expect(resolution).toMatch(/^[A-Z].*\.$/)
    }
    expect(execution.message).toContain('exe_1')
    expect([execution.code, execution.type, execution.param]).toEqual([error.code, error.type, error.param])
  })
})

describe('the charge in an error message', () => {
  const error = stored('provider_failed')
  const reported = (chargedMicro: number, ended: boolean) =>
    errorOfExecution(error, { id: 'exe_1', startedBy: 'invoke', chargedMicro, ended }).message

  test('is final once the execution has ended, and a running total before', () => {
    expect(reported(42, true)).toBe(
      'The model failed to respond. Execution exe_1 was charged $0.000042 for the calls that completed.',
    )
    expect(reported(0, true)).toBe('The model failed to respond. Execution exe_1 was not charged.')
    expect(reported(42, false)).toBe('The model failed to respond. Execution exe_1 was charged $0.000042 so far.')
  })

  test('of a node is the charge of its call', () => {
    const node = (chargedMicro: number) => errorOfNode(error, { startedBy: 'invoke', chargedMicro }).message
    expect(node(0)).toBe('The model failed to respond. This node was not charged.')
    expect(node(3)).toBe('The model failed to respond. This node was charged $0.000003.')
  })
})

describe('the resolution of an error', () => {
  const resolution = (error: RefusalBody) => errorOfNode(error, { startedBy: 'invoke', chargedMicro: 0 }).resolution

  test('states what to do first, then to run it again', () => {
    const facts = { availableMicro: 3, neededMicro: 9, reservedMicro: 5, affordableMaxTokens: 2 }
    expect(resolution(refuse('insufficient_budget', facts, { details: facts }).body)).toMatch(
      /^Ask the platform operator to add funds to the project, or wait until other calls .* settled, or set max_tokens to 2 or less .*\. Then run/,
    )
    expect(resolution(stored('product_not_assigned'))).toMatch(/^Ask an Admin .*\. Then run/)
  })

  test('suggests running it again if that may help, then what to do if it fails again', () => {
    expect(resolution(stored('provider_failed'))).toMatch(/^Run the sandbox .*\. If it fails again, use another model/)
    expect(resolution(stored('unavailable'))).toMatch(/^Wait a few seconds\. Then run/)
  })

  test('of a node error with a field is the resolution of the node', () => {
    const error = { ...stored('node_failed'), param: 'response_format', resolution: 'Raise max_tokens.' }
    expect(resolution(error)).toMatch(/^Raise max_tokens\. Then run/)
  })
})
