import { operationNamed } from '@gateway/testbed/example-request'
import { expect, test } from 'vitest'
import type { FuzzRequest } from './draft.ts'
import { judge } from './judge.ts'
import type { FuzzAnswer } from './send.ts'

const request = (own: Partial<FuzzRequest> = {}): FuzzRequest => ({
  n: 0,
  operation: operationNamed('GET /v1/models'),
  caller: 'key',
  direct: false,
  method: 'GET',
  path: '/v1/models',
  headers: [],
  body: null,
  transport: { kind: 'whole' },
  changes: [],
  foreign: false,
  ...own,
})

const answer = (status: number, body: unknown, own: Partial<FuzzAnswer> = {}): FuzzAnswer => ({
  status,
  headers: { 'content-type': 'application/json', 'x-request-id': 'req_1' },
  text: body === null ? '' : JSON.stringify(body),
  ms: 5,
  error: null,
  ...own,
})

const refusal = (code: string) => ({
  error: { code, type: 'api_error', param: null, message: 'A fact.', resolution: 'An action.' },
})

const kinds = (...given: Parameters<typeof judge>) => judge(...given).map(({ kind }) => kind)

test('accepts a documented response of the documented shape', () => {
  expect(judge(request(), answer(200, { object: 'list', data: [] }))).toEqual([])
  expect(judge(request(), answer(401, refusal('key_missing')))).toEqual([])
})

test.each([
  ['500', answer(500, refusal('internal_error')), ['server error']],
  ['503 of our own', answer(503, refusal('overloaded')), ['server error']],
  ['more than two seconds', answer(200, { object: 'list', data: [] }, { ms: 2_001 }), ['slow']],
  ['an undocumented status', answer(402, refusal('insufficient_budget')), ['status']],
  ['another shape', answer(200, { data: 7 }), ['shape']],
  ['text that is not JSON', answer(200, null, { text: '{' }), ['shape']],
  ['a refusal without a resolution', answer(401, { error: { code: 'x', message: 'y' } }), ['refusal']],
  [
    'no request ID',
    answer(200, { object: 'list', data: [] }, { headers: { 'content-type': 'application/json' } }),
    ['headers'],
  ],
  ['a closed connection', answer(0, null, { error: 'closed' }), ['no response']],
])('reports %s', (_, given, expected) => {
  expect(kinds(request(), given)).toEqual(expected)
})

test('accepts that a user has a share of the revocations under way', () => {
  const revoke = operationNamed('POST /api/v2/tenants/{tenant}/keys/{key}/revoke')
  const asked = request({ operation: revoke, method: 'POST', path: '/api/v2/tenants/ten/keys/key/revoke' })
  const wait = { headers: { ...answer(503, null).headers, 'retry-after': '1' } }
  expect(kinds(asked, answer(503, refusal('overloaded'), wait))).toEqual([])
  expect(kinds(asked, answer(503, refusal('overloaded')))).toEqual(['server error'])
  expect(kinds(request(), answer(503, refusal('overloaded'), wait))).toEqual(['server error'])
})

test('an open path that a changed request reaches lets no one in', () => {
  const ended: Partial<FuzzRequest> = { caller: 'none', changes: ['changed'] }
  const operation = operationNamed('DELETE /api/v2/session')
  const session = answer(200, { baseUrl: null, provider: null, secondFactor: false, sendsMail: true })
  expect(kinds(request({ ...ended, operation, path: '/API/v2/session' }), session)).toEqual([])
  expect(kinds(request({ ...ended, path: '/' }), answer(302, null))).toEqual([])
  expect(kinds(request(ended), answer(200, { object: 'list', data: [] }))).toEqual(['let in'])
})

test('accepts a failure of the provider, if the operation documents it', () => {
  const chat = request({
    operation: operationNamed('POST /v1/chat/completions'),
    method: 'POST',
    path: '/v1/chat/completions',
  })
  expect(judge(chat, answer(502, refusal('provider_failed')))).toEqual([])
})

test('reports a success of a caller who must be refused', () => {
  const listed = answer(200, { object: 'list', data: [] })
  expect(kinds(request({ caller: 'forged' }), listed)).toEqual(['let in'])
  expect(kinds(request({ caller: 'otherKey', foreign: true }), listed)).toEqual(['let in'])
  const toOpen = { caller: 'none', method: 'HEAD', path: '/api/v2/session' } as const // GET is open, DELETE is not
  const operation = operationNamed('DELETE /api/v2/session')
  expect(kinds(request({ operation, ...toOpen }), answer(200, null))).toEqual([])
})

test('accepts general refusals of the HTTP layer only for changed requests', () => {
  const tooLarge = answer(413, refusal('request_too_large'))
  expect(kinds(request(), tooLarge)).toEqual(['status'])
  expect(judge(request({ changes: ['huge header'] }), tooLarge)).toEqual([])
})
