import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { refuse, Refusal, type RefusalCode } from './refusal.ts'
import { refusalFacts } from './refusal-facts.fixture.ts'
import { refusals } from './refusals.ts'

const codes = Object.keys(refusals) as RefusalCode[]

const row = (code: RefusalCode, given = refusalFacts(code)) => {
  const { status } = refusals[code]
  const { type, message, resolution } = refuse(code, given as never).body
  return { status, type, message, resolution }
}

describe.each(codes)('%s', (code) => {
  test('is a code in snake_case', () => expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/))

  // spec: 7/s3
  test('states the fault and its resolution in whole sentences', () => {
    for (const text of [row(code).message, row(code).resolution]) {
      expect(text).toMatch(/^[A-Z].*\.$/)
      expect(text).not.toMatch(/undefined|null|NaN|\[object|\$\{/)
    }
  })

  test('has a status of rules §2.4 and the matching type', () => {
    const types: Record<number, string> = {
      400: 'invalid_request_error',
      401: 'authentication_error',
      402: 'insufficient_funds_error',
      403: 'permission_error',
      404: 'not_found_error',
      405: 'invalid_request_error',
      409: 'conflict_error',
      413: 'invalid_request_error',
      416: 'invalid_request_error',
      422: 'invalid_request_error',
      429: 'rate_limit_error',
    }
    const { status, type } = row(code)
    expect(type).toBe(types[status] ?? 'api_error')
    expect(status in types || [500, 502, 503, 504].includes(status)).toBe(true)
  })

  test('names no provider', () =>
    expect(JSON.stringify(row(code))).not.toMatch(/provider|provider|openai|anthropic|upstream/i))
})

// rules §2.4
const decided: [number, RefusalCode[]][] = [
  [400, ['invalid_json', 'duplicate_header', 'invalid_request', 'idempotency_key_required', 'idempotency_key_invalid']],
  [401, ['key_missing', 'key_invalid', 'key_revoked', 'key_expired']],
  [402, ['insufficient_budget', 'ceiling_reached']],
  [
    403,
    [
      'key_issuer_denied',
      'project_mismatch',
      'key_unbound',
      'key_scope',
      'key_limit',
      'product_not_assigned',
      'rotation_forbidden',
      'not_permitted',
    ],
  ],
  [
    404,
    [
      'model_not_found',
      'sandbox_not_found',
      'execution_not_found',
      'asset_not_found',
      'invocation_not_found',
      'invocation_archived',
      'statement_archived',
      'usage_archived',
      'not_found',
    ],
  ],
  [405, ['method_not_allowed']],
  [409, ['revision_conflict', 'revision_not_active', 'key_not_active', 'idempotency_in_progress']],
  [413, ['request_too_large']],
  [416, ['range_not_satisfiable']],
  [422, ['project_required', 'resource_not_eligible', 'context_limit', 'idempotency_mismatch']],
  [422, ['sandbox_contract', 'input_type', 'graph_invalid']],
  [429, ['rate_limited']],
  [500, ['internal_error']],
  [502, ['provider_failed']],
  [503, ['overloaded', 'unavailable', 'activation_failed']],
  [504, ['provider_timeout']],
]
test.each(decided)('%i is the status of %j', (status, codes) => {
  expect(codes.map((code) => refusals[code].status)).toEqual(codes.map(() => status))
})

test('rules §2.4 and §2.9 list every code', () => {
  const rules = readFileSync(path.join(import.meta.dirname, '../../../docs/rules.md'), 'utf8')
  const sections = rules.split(/^### /m).filter((section) => /^2\.[49] /.test(section))
  expect(sections).toHaveLength(2)
  expect(codes.filter((code) => !sections.some((section) => section.includes(`\`${code}\``)))).toEqual([])
})

test('says "maximum context length", which stock clients search for [context_limit]', () => {
  expect(row('context_limit').message).toContain('maximum context length')
})

test('a refusal with absent facts still states its resolution', () => {
  for (const [code, given] of [
    ['key_revoked', { rotatedTo: null }],
    ['key_not_active', { state: 'Expired', rotatedTo: null }],
    [
      'key_limit',
      { reset: 'lifetime', limitMicro: 5, spentMicro: 5, reservedMicro: 0, neededMicro: 1, resetsAt: null },
    ],
    ['key_issuer_denied', { use: false }],
    ['insufficient_budget', { neededMicro: 4, availableMicro: 0, affordableMaxTokens: 0, reservedMicro: 0 }],
  ] as const) {
    const { message, resolution } = row(code, given)
    expect(message).toMatch(/^[A-Z].*\.$/)
    expect(resolution).toMatch(/^[A-Z].*\.$/)
    expect(message + resolution).not.toMatch(/undefined|null/)
  }
})

describe('headers', () => {
  test('a 401 names the scheme and tells clients not to retry', () => {
    expect(refuse('key_missing', {}).headers).toEqual({ 'WWW-Authenticate': 'Bearer', 'x-should-retry': 'false' })
  })

  test('Retry-After is in whole seconds, from 1 to 30, and absent if waiting does not help', () => {
    const after = (retryAfterMs: number) => refuse('overloaded', {}, { retryAfterMs }).headers['Retry-After']
    expect([0, 1, 1_000, 1_001, 30_000, 30_001, 3_600_000].map(after)).toEqual(['1', '1', '1', '2', '30', '30', '30'])
    expect(refuse('idempotency_in_progress', {}, { retryAfterMs: 1_000 }).headers).toEqual({ 'Retry-After': '1' })
    expect(refuse('idempotency_in_progress', {}).headers).toEqual({ 'Retry-After': '2' })
    expect(refuse('unavailable', {}, { retryAfterMs: null }).headers).toEqual({})
    expect(refuse('key_limit', refusalFacts('key_limit') as never, { retryAfterMs: 1_000 }).headers).toEqual({
      'x-should-retry': 'false',
    })
  })

  test('x-should-retry is false where a retry cannot help', () => {
    for (const code of codes) {
      const { headers, status } = refuse(code, refusalFacts(code) as never)
      const clears = status >= 500 || 'retryAfterMs' in refusals[code]
      expect([code, headers['x-should-retry']]).toEqual([code, clears ? undefined : 'false'])
    }
  })

  test('headers passed by the caller are added to those of the refusal', () => {
    const refusal = refuse('method_not_allowed', refusalFacts('method_not_allowed') as never, {
      headers: { Allow: 'POST' },
    })
    expect(refusal.headers['Allow']).toBe('POST')
  })
})

describe('the refusal of a call that exceeds a key limit [key_limit]', () => {
  const facts = {
    reset: 'daily',
    limitMicro: 100,
    spentMicro: 0,
    reservedMicro: 0,
    resetsAt: '2026-11-21T00:00:00Z',
  } as const

  test('does not suggest to wait if the call costs more than the whole limit', () => {
    const { message, resolution } = refuse('key_limit', { ...facts, neededMicro: 4_920 }).body
    expect(message).toBe("This call may cost up to $0.00492, which exceeds the key's daily spending limit of $0.0001.")
    expect(resolution).not.toMatch(/wait/i)
    expect(resolution).toMatch(/lower max_tokens.*or create a key with a higher limit/)
  })

  test('suggests a new window or a higher limit once the limit is spent', () => {
    const { resolution } = refuse('key_limit', { ...facts, spentMicro: 100, neededMicro: 100 }).body
    expect(resolution).toMatch(/^Wait until the limit resets/)
  })
})

// Limit 100.
const shortfalls: [spentMicro: number, reservedMicro: number, neededMicro: number, Shortfall][] = [
  [0, 0, 101, 'larger than the limit'],
  [100, 0, 101, 'larger than the limit'],
  [0, 100, 1, 'reserved'],
  [0, 60, 50, 'reserved'],
  [40, 60, 60, 'reserved'],
  [40, 60, 61, 'larger than the rest'],
  [99, 0, 2, 'larger than the rest'],
  [99, 1, 2, 'larger than the rest'],
  [100, 0, 1, 'spent'],
  [120, 0, 0, 'spent'], // the limit of a budget was lowered
]
type Shortfall = keyof typeof shortfallTexts
const shortfallTexts = {
  'larger than the limit': [/^This call may cost up to .* exceeds /, /^Shorten the prompt, lower max_tokens, or /],
  'larger than the rest': [
    /^This call may cost up to .* more than is left of /,
    /lower max_tokens, wait until .* resets/,
  ],
  reserved: [/^Running calls have reserved what this call needs of /, /^Wait until running calls settle, or /],
  spent: [/ reached/, /^Wait until the (limit|budget) resets at /],
} as const

describe.each([
  ['key_limit', { reset: 'daily' }],
  ['budget_reached', { kind: 'tag', subject: 'nightly' }],
] as const)('%s', (code, more) => {
  test.each(shortfalls)('with %i spent, %i reserved and %i needed of 100: %s', (spent, reserved, needed, shortfall) => {
    const { message, resolution } = row(code, {
      ...more,
      limitMicro: 100,
      spentMicro: spent,
      reservedMicro: reserved,
      neededMicro: needed,
      resetsAt: '2026-12-01T00:00:00Z',
    })
    expect(message).toMatch(shortfallTexts[shortfall][0])
    expect(resolution).toMatch(shortfallTexts[shortfall][1])
    expect(resolution.includes('2026-12-01')).toBe(shortfall === 'spent' || shortfall === 'larger than the rest')
  })
})

test('a lifetime limit that does not reset suggests a smaller call [key_limit]', () => {
  const facts = {
    reset: 'lifetime',
    limitMicro: 100,
    spentMicro: 60,
    reservedMicro: 0,
    neededMicro: 50,
    resetsAt: null,
  }
  expect(row('key_limit', facts).resolution).toBe(
    'Shorten the prompt, lower max_tokens, or create a key with a higher limit.',
  )
})

test.each([
  [0, "The project's wallet is empty."],
  [100, "Running calls have reserved the rest of the project's wallet."],
])('with nothing available and %i reserved says “%s” [insufficient_budget]', (reservedMicro, message) => {
  const facts = { availableMicro: 0, reservedMicro, neededMicro: 50, affordableMaxTokens: 0 }
  expect(row('insufficient_budget', facts).message).toBe(message)
})

test('a refused product names both possible reasons: not assigned or not published [product_not_assigned]', () => {
  const { message, resolution } = refuse('product_not_assigned', { product: 'acme/sage' }).body
  expect(message).toBe('The product acme/sage is not assigned to this project or not published.')
  expect(resolution).toContain('use another product')
})

test('the body of a refusal has the field at fault and the details', () => {
  const refusal = refuse('key_limit', refusalFacts('key_limit') as never, {
    param: 'model',
    details: { limitMicro: 5 },
  })
  expect(refusal).toBeInstanceOf(Refusal)
  expect(refusal.body).toEqual({
    code: 'key_limit',
    type: 'permission_error',
    param: 'model',
    message: 'This key has reached its daily spending limit of $5.00.',
    resolution: expect.stringContaining('2026-11-21T00:00:00Z') as string,
    details: { limitMicro: 5 },
  })
  expect(refuse('key_missing', {}).body).not.toHaveProperty('details')
  expect(refuse('key_missing', {}).body.param).toBe(null)
})
