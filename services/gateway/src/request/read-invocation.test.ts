import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { flowLimits } from '@gateway/api/limits'
import { Refusal } from '@gateway/api/refusal'
import { describe, expect, test } from 'vitest'
import { aliasOf } from './input-aliases.ts'
import { readInvocation } from './read-invocation.ts'

const HASH = 'a'.repeat(64)
const KEYED = { 'idempotency-key': 'run-0001' }
const BODY = { input: { topic: 'hills' } }

/** Builds a request as Node would. */
function request(headers: Record<string, string>, body: unknown = BODY): IncomingMessage {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const req = Readable.from([bytes]) as unknown as IncomingMessage
  return Object.assign(req, { headers, rawHeaders: Object.entries(headers).flat() })
}

const read = (body: unknown, headers: Record<string, string> = KEYED) => readInvocation(request(headers, body), HASH)

async function refusalOf(work: Promise<unknown>) {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Refusal)) throw new Error(`no refusal: ${String(error)}`)
  return [error.code, error.body.param]
}

describe('readInvocation', () => {
  // spec: 4.3/s2, 4.3/s10
  test('reads the input, revision, cost ceiling and project selector', async () => {
    expect(await read({ ...BODY, revision: 3, maxMicro: 500, project_id: 'prj_1' })).toEqual({
      keyHash: HASH,
      selector: 'prj_1',
      tag: null,
      input: { topic: 'hills' },
      revision: 3,
      maxMicro: 500,
      idempotency: { key: 'run-0001', fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    })
    expect(await read({ ...BODY, revision: null, project_id: null })).toMatchObject({
      selector: null,
      tag: null,
      revision: null,
      maxMicro: null,
    })
  })

  // spec: 4.3/s1, 8.2/r9
  test('requires an idempotency key before reading the body [idempotency_key_required, idempotency_key_invalid]', async () => {
    expect(await refusalOf(read('{', {}))).toEqual(['idempotency_key_required', null])
    for (const key of ['', 'short', 'seven77', 'x'.repeat(129), 'with blank in it', 'naïve-key'])
      expect(await refusalOf(read('{', { 'idempotency-key': key }))).toEqual(['idempotency_key_invalid', null])
    for (const key of ['x'.repeat(8), 'x'.repeat(128)])
      expect(await read(BODY, { 'idempotency-key': key })).toMatchObject({ idempotency: { key } })
  })

  test('refuses a duplicate of a header that decides who pays [duplicate_header]', async () => {
    const req = request(KEYED)
    req.rawHeaders.push('X-Service-Project', 'prj_1', 'x-service-project', 'prj_2')
    expect(await refusalOf(readInvocation(req, HASH))).toEqual(['duplicate_header', null])
  })

  // spec: 4/s2, 4.3/s2
  test.each<[string, unknown, string, string | null]>([
    ['invalid JSON', '{', 'invalid_json', null],
    ['an empty body', '', 'invalid_json', null],
    ['an array', [], 'invalid_request', null],
    ['a missing input', {}, 'invalid_request', 'input'],
    ['a null input', { input: null }, 'invalid_request', 'input'],
    ['a string as input', { input: 'hills' }, 'invalid_request', 'input'],
    ['a list as input', { input: [] }, 'invalid_request', 'input'],
    ['revision 0', { ...BODY, revision: 0 }, 'invalid_request', 'revision'],
    ['revision 1.5', { ...BODY, revision: 1.5 }, 'invalid_request', 'revision'],
    ['revision "1"', { ...BODY, revision: '1' }, 'invalid_request', 'revision'],
    ['a negative maxMicro', { ...BODY, maxMicro: -1 }, 'invalid_request', 'maxMicro'],
    ['maxMicro 1.5', { ...BODY, maxMicro: 1.5 }, 'invalid_request', 'maxMicro'],
    ['an inexact maxMicro', { ...BODY, maxMicro: 2 ** 53 }, 'invalid_request', 'maxMicro'],
    ['maxMicro "5"', { ...BODY, maxMicro: '5' }, 'invalid_request', 'maxMicro'],
    ['a project that is not a string', { ...BODY, project_id: 1 }, 'invalid_request', 'project_id'],
    ['an unknown field', { ...BODY, inputs: {} }, 'invalid_request', 'inputs'],
  ])('refuses %s [invalid_json, invalid_request]', async (_, body, code, param) => {
    expect(await refusalOf(read(body))).toEqual([code, param])
  })

  test('accepts a body of exactly 2 MiB and refuses a larger one [request_too_large]', async () => {
    const around = JSON.stringify({ input: { text: '' } }).length
    const sized = (bytes: number) => ({ input: { text: 'x'.repeat(bytes - around) } })
    expect(await read(sized(flowLimits.bodyBytes))).toMatchObject({ revision: null })
    expect(await refusalOf(read(sized(flowLimits.bodyBytes + 1)))).toEqual(['request_too_large', null])
    const declared = { ...KEYED, 'content-length': String(flowLimits.bodyBytes + 1) }
    expect(await refusalOf(read(BODY, declared))).toEqual(['request_too_large', null])
  })
})

describe('the fingerprint of an invocation', () => {
  const printOf = async (body: object, headers = KEYED) => (await read(body, headers)).idempotency.fingerprint

  test('depends on the input and the named revision, not on field order or number format', async () => {
    const same = await printOf({ input: { a: 1, b: 'é' }, revision: 2 })
    expect(await printOf({ revision: 2, input: { b: 'é', a: 1.0 } })).toBe(same)
    expect(await printOf({ revision: 2, input: { b: 'é', a: 1 }, project_id: 'prj_1' })).toBe(same)
    for (const other of [{ a: 2, b: 'é' }, { a: 1 }, { a: 1, b: 'é', c: null }])
      expect(await printOf({ input: other, revision: 2 })).not.toBe(same)
  })

  test('is the same for an input by its alias, unless both are given', async () => {
    const alias = aliasOf('题目')
    const same = await printOf({ input: { 题目: 'a', b: 1 } })
    expect(await printOf({ input: { [alias]: 'a', b: 1 } })).toBe(same)
    const both = [
      { 题目: 'a', [alias]: 'a', b: 1 },
      { 题目: 'c', [alias]: 'a', b: 1 },
    ]
    const prints = await Promise.all(both.map((input) => printOf({ input })))
    expect(new Set([same, ...prints]).size).toBe(3)
  })

  test('changes with the cost ceiling', async () => {
    expect(await printOf({ ...BODY, maxMicro: 500 })).not.toBe(await printOf(BODY))
    expect(await printOf({ ...BODY, maxMicro: 500 })).not.toBe(await printOf({ ...BODY, maxMicro: 501 }))
    expect(await printOf({ ...BODY, maxMicro: null })).toBe(await printOf(BODY))
  })

  test('changes if a revision is named', async () => {
    expect(await printOf({ ...BODY, revision: 1 })).not.toBe(await printOf(BODY))
    expect(await printOf({ ...BODY, revision: null })).toBe(await printOf(BODY))
  })
})
