import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { makeSecret } from '@gateway/api/ids'
import { fingerprintOf, readKey, selectorOf } from './read-headers.ts'
import { Refusal } from '@gateway/api/refusal'
import { chatWire } from '@gateway/api/wires/chat/chat-wire'
import { describe, expect, test } from 'vitest'
import { readChat } from './read-chat.ts'

const SECRET = makeSecret('svc_', new Uint8Array(32).fill(7))
const BODY = { model: 'acme/swift', messages: [{ role: 'user', content: 'hi' }] }

/** Builds a request as Node would. */
function request(headers: Record<string, string>, body: string | Buffer = JSON.stringify(BODY)): IncomingMessage {
  const req = Readable.from([Buffer.from(body)]) as unknown as IncomingMessage
  return Object.assign(req, { headers, rawHeaders: Object.entries(headers).flat() })
}

const read = async (req: IncomingMessage) => readChat(chatWire, req, readKey(req))

const keyed = (headers: Record<string, string> = {}) => ({ authorization: `Bearer ${SECRET}`, ...headers })

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'nothing'
  } catch (error) {
    return error instanceof Refusal ? error.code : String(error)
  }
}

describe('readChat', () => {
  test('passes on only the hash of the secret', async () => {
    const chat = await read(request(keyed()))
    expect(chat).toMatchObject({ keyHash: expect.stringMatching(/^[0-9a-f]{64}$/), selector: null, idempotency: null })
    expect(JSON.stringify(chat)).not.toContain(SECRET)
  })

  test('checks the key first, then the headers, then the body', async () => {
    const bad = { 'idempotency-key': 'short' }
    expect(await codeOf(() => read(request(bad, '{')))).toBe('key_missing')
    expect(await codeOf(() => read(request({ ...bad, authorization: 'Bearer svc_x' }, '{')))).toBe('key_invalid')
    expect(await codeOf(() => read(request(keyed(bad), '{')))).toBe('idempotency_key_invalid')
    expect(await codeOf(() => read(request(keyed(), '{')))).toBe('invalid_json')
  })

  test('tells a caller whose body is too large without Content-Length that images require it [request_too_large]', async () => {
    const long = JSON.stringify({ ...BODY, user: 'x'.repeat(600_000) })
    const refused = read(request(keyed(), long))
    await expect(refused).rejects.toMatchObject({
      code: 'request_too_large',
      body: { resolution: expect.stringMatching(/Content-Length.* 21495808 bytes/) },
    })
  })

  test.each([
    ['bearer ' + SECRET, 'nothing'],
    ['Bearer', 'key_missing'],
    ['Bearer ', 'key_missing'],
    [SECRET, 'key_missing'],
    ['Bearer svu_' + SECRET.slice(4), 'key_invalid'],
    [`Bearer ${SECRET} x`, 'key_invalid'],
    [`Bearer ${SECRET.slice(0, -1)}_`, 'key_invalid'],
  ])('Authorization: %s gets %s', async (authorization, code) => {
    expect(await codeOf(() => read(request({ authorization })))).toBe(code)
  })

  // spec: 4.2/s15, 8.1/r11
  test.each([
    ['a'.repeat(7), 'idempotency_key_invalid'],
    ['a'.repeat(8), 'nothing'],
    ['~'.repeat(128), 'nothing'],
    ['a'.repeat(129), 'idempotency_key_invalid'],
    ['has a space', 'idempotency_key_invalid'],
    ['naïve-key', 'idempotency_key_invalid'],
    ['', 'idempotency_key_invalid'],
  ])('Idempotency-Key: %s gets %s', async (key, code) => {
    expect(await codeOf(() => read(request(keyed({ 'idempotency-key': key }))))).toBe(code)
  })
})

describe('the project selector', () => {
  const headers = (service?: string, project?: string) => ({
    headers: {
      ...(service !== undefined && { 'x-service-project': service }),
      ...(project !== undefined && { 'x-project-id': project }),
    },
  })

  // spec: 4.5/s1
  test('is null, or the one value that all sources agree on', () => {
    expect(selectorOf(headers(), null)).toBe(null)
    expect(selectorOf(headers('prj_1', 'prj_1'), 'prj_1')).toBe('prj_1')
    expect(selectorOf(headers(undefined, 'prj_1'), null)).toBe('prj_1')
  })

  test('matches no project if values differ or one is empty', () => {
    expect(selectorOf(headers('prj_1', 'prj_2'), null)).toBe('prj_1 prj_2')
    expect(selectorOf(headers('prj_1'), '')).toBe('prj_1 ')
    expect(selectorOf(headers(''), null)).toBe('')
  })

  test('is at most 512 characters without NUL for any body', () => {
    const selector = selectorOf(headers(), '\0'.repeat(100_000))!
    expect(selector.length).toBe(512)
    expect(selector).not.toContain('\0')
  })
})

describe('the fingerprint of a request', () => {
  test('does not change with the order of fields, project_id or nulls', () => {
    const { model, messages } = BODY
    expect(fingerprintOf({ messages, project_id: 'prj_1', seed: null, model })).toBe(fingerprintOf(BODY))
  })

  test('changes with every other field', () => {
    const prints = [
      BODY,
      { ...BODY, stream: true },
      { ...BODY, stream: false },
      { ...BODY, user: 'me' },
      { ...BODY, stop: [] },
    ].map((body) => fingerprintOf(body))
    expect(new Set(prints).size).toBe(prints.length)
  })

  test('accepts a lone surrogate', () => {
    expect(fingerprintOf({ ...BODY, user: '\ud83d' })).toMatch(/^[0-9a-f]{64}$/)
  })
})
