import { describe, expect, test } from 'vitest'
import { refusalFor, type LedgerRefusal, type Surface } from './ledger-refusal.ts'

const said = (code: string, facts: object = {}, surface: Surface = 'chat') =>
  refusalFor({ code, facts } as LedgerRefusal, surface)

describe('a refusal for a caller of a model', () => {
  test('names the time at which the spending window of the key ends [key_limit]', () => {
    const facts = { limitMicro: 5_000_000, spentMicro: 4_999_120, reservedMicro: 0, neededMicro: 900 }
    const { body } = said('key_limit', {
      ...facts,
      reset: 'daily',
      resetsAt: '2026-11-21T00:00:00Z',
      tokenizer: 'o200k_base',
    })
    expect(body.details).toEqual({ ...facts, resetsAt: '2026-11-21T00:00:00Z' })
    expect(body.resolution).toContain('2026-11-21T00:00:00Z')
  })

  test('names no such time for a lifetime limit [key_limit]', () => {
    const { body } = said('key_limit', { reset: 'lifetime', resetsAt: null, limitMicro: 5 })
    expect(body.details).toMatchObject({ resetsAt: null })
    expect(body.resolution).toContain('higher limit')
  })

  test('names the affordable max_tokens [insufficient_budget]', () => {
    const facts = { availableMicro: 100, reservedMicro: 50, neededMicro: 400, affordableMaxTokens: 20 }
    const { status, body } = said('insufficient_budget', { ...facts, tokenizer: 'o200k_base' })
    expect(status).toBe(402)
    expect(body.details).toEqual(facts)
    expect(body.resolution).toContain('max_tokens to 20 or less')
  })

  test('names the limits of the model and the field that exceeds them [context_limit]', () => {
    const limits = { contextLength: 8_000, maxOutputTokens: 4_000 }
    const long = said('context_limit', { ...limits, promptTokens: 7_000, outputCap: 4_000 })
    expect(long.body).toMatchObject({ param: 'messages', message: expect.stringContaining('maximum context length') })
    expect(said('context_limit', { ...limits, promptTokens: 10, outputCap: 5_000 }).body.param).toBe('max_tokens')
  })

  test('names the replacement of a rotated key [key_revoked]', () => {
    expect(said('key_revoked', { rotatedTo: 'key_2' }).body).toMatchObject({ details: { rotatedTo: 'key_2' } })
    expect(said('key_revoked', { rotatedTo: null }).body).not.toHaveProperty('details')
  })

  test('is an invalid request if only ledger and gateway know the code [invalid_request]', () => {
    expect(said('unsupported_parameter', { param: 'logprobs' }).body).toMatchObject({
      code: 'invalid_request',
      param: 'logprobs',
    })
    expect(said('images_unsupported').body).toMatchObject({ code: 'invalid_request', param: 'messages' })
  })

  test.each([
    ['key_invalid', {}, 401],
    ['key_expired', { expiredAt: '2026-11-20T10:00:00Z' }, 401],
    ['key_paused', {}, 403],
    ['key_unbound', {}, 403],
    ['key_issuer_denied', {}, 403],
    ['project_mismatch', { project: 'prj_1' }, 403],
    ['key_scope', { resource: 'acme/swift' }, 403],
    ['model_not_found', { model: 'acme/none' }, 404],
    ['idempotency_mismatch', {}, 422],
    ['answer_not_kept', {}, 422],
    ['overloaded', {}, 503],
    ['unavailable', {}, 503],
  ])('has a resolution: %s', (code, facts, status) => {
    const refusal = said(code, facts)
    expect(refusal).toMatchObject({ code, status, body: { resolution: expect.stringMatching(/\w/) } })
    expect(refusal.headers['Retry-After'] === undefined).toBe(status !== 503)
  })

  test('throws for a code with which no call can be refused', () => {
    expect(() => said('instance_gone')).toThrow('instance_gone')
  })
})

describe('a refusal for a caller of a sandbox product', () => {
  test('names the field of the invoke at fault [key_scope] [input_type] [revision_not_active]', () => {
    expect(said('key_scope', { resource: 'sbx-1' }, 'invoke').body.param).toBe(null)
    expect(said('key_scope', { resource: 'sbx-1' }, 'chat').body.param).toBe('model')
    const fields = [{ field: 'topic', message: 'must be a string' }]
    expect(said('input_type', { fields }, 'invoke').body).toMatchObject({ param: 'input', details: { fields } })
    expect(said('input_type', { fields }, 'chat').body.param).toBe('messages')
    const facts = { revision: 2, activeRevision: 3, suspended: false }
    expect(said('revision_not_active', facts, 'invoke').body).toMatchObject({ param: 'revision', details: facts })
    expect(said('revision_not_active', { ...facts, revision: null }, 'invoke').body.param).toBe(null)
  })
})

describe('a refusal for a user in the console', () => {
  test('names the problems of the revision or the input [graph_invalid] [input_type] [revision_not_active]', () => {
    const problems = [{ message: 'The node out has no text.' }]
    expect(said('graph_invalid', { problems }, 'console').body).toMatchObject({
      param: 'revision',
      details: { problems },
    })
    expect(said('input_type', { fields: [] }, 'console').body.param).toBe('input')
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f']
    const differs = said('rerun_differs', { execution: 'exe_1', revision: 2, nodes }, 'console').body
    expect(differs).toMatchObject({ param: 'revision', details: { nodes } })
    expect(differs.message).toMatch(/ a, b, c, d, e, …\.$/)
    expect(said('node_unknown', { from: 'x' }, 'console').body).toMatchObject({
      code: 'invalid_request',
      param: 'from',
    })
    const facts = { revision: null, activeRevision: null, suspended: true }
    expect(said('revision_not_active', facts, 'console').body.param).toBe('revision')
    expect(said('revision_not_active', facts, 'console').body).not.toHaveProperty('details')
  })
})

describe('a refusal as the error of a node', () => {
  const refused = (code: string, facts: object = {}) => said(code, facts, 'node').body

  test('names the reason why its call was not admitted [key_revoked] [key_issuer_denied] [not_permitted] [product_not_assigned] [key_scope]', () => {
    expect(refused('key_revoked', { rotatedTo: null })).toMatchObject({ code: 'key_revoked' })
    expect(refused('key_revoked', { rotatedTo: 'key_2' })).toMatchObject({ details: { rotatedTo: 'key_2' } })
    for (const code of ['key_issuer_denied', 'not_permitted']) expect(refused(code)).toMatchObject({ code })
    const named = { product: 'acme/swift', resource: 'acme/swift' }
    for (const code of ['product_not_assigned', 'key_scope'])
      expect(refused(code, named)).toMatchObject({
        code,
        param: null,
        message: expect.stringContaining('acme/swift') as string,
      })
  })

  test('names the needed and the available amounts [context_limit] [ceiling_reached] [key_limit] [insufficient_budget]', () => {
    const context = { promptTokens: 9, outputCap: 2, contextLength: 10, maxOutputTokens: 5 }
    expect(refused('context_limit', context)).toMatchObject({ code: 'context_limit', param: null, details: context })
    const limit = { limitMicro: 5, spentMicro: 3, reservedMicro: 1, neededMicro: 2, resetsAt: '2026-11-21T00:00:00Z' }
    expect(refused('key_limit', { ...limit, reset: 'daily' })).toMatchObject({ details: limit })
    const ceiling = { maxMicro: 500, chargedMicro: 300, reservedMicro: 150, neededMicro: 70 }
    const reached = refused('ceiling_reached', { ...ceiling, leastMicro: 60 })
    expect(reached).toMatchObject({ code: 'ceiling_reached', param: null, details: ceiling })
    expect(reached.message).toContain(
      'up to $0.00007, but the execution may cost at most $0.0005, of which $0.0003 is charged and $0.00015 is reserved',
    )
    expect(reached.resolution).toContain('maxMicro 520 or higher')
    const budget = { availableMicro: 1, reservedMicro: 0, neededMicro: 2, affordableMaxTokens: 0 }
    expect(refused('insufficient_budget', budget)).toMatchObject({ code: 'insufficient_budget', details: budget })
  })

  test('names the parameter or port that the model does not support [invalid_request]', () => {
    expect(refused('unsupported_parameter', { param: 'tools' })).toMatchObject({
      code: 'invalid_request',
      param: 'tools',
    })
    expect(refused('images_unsupported')).toMatchObject({ code: 'invalid_request', param: 'image' })
  })
})
