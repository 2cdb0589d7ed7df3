import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { makeSecret } from '@gateway/contracts/key-secret'
import { Refusal } from '@gateway/contracts/refusal'
import { describe, expect, test } from 'vitest'
import { CallerGone } from './caller-gone.ts'
import { fingerprintOf } from './fingerprint.ts'
import { parseJson } from './parse-json.ts'
import { readBody } from './read-body.ts'
import { readKey } from './read-key.ts'
import { receiveChat } from './receive-chat.ts'
import { selectorOf } from './selector.ts'

const SECRET = makeSecret('svc_', new Uint8Array(32).fill(7))
const BODY = { model: 'acme/swift', messages: [{ role: 'user', content: 'hi' }] }

/** A request as Node hands it over. */
function request(headers: Record<string, string>, body: string | Buffer = JSON.stringify(BODY)): IncomingMessage {
  const req = Readable.from([Buffer.from(body)]) as unknown as IncomingMessage
  return Object.assign(req, { headers, rawHeaders: Object.entries(headers).flat() })
}

const received = async (req: IncomingMessage) => receiveChat(req, readKey(req))

const keyed = (headers: Record<string, string> = {}) => ({ authorization: `Bearer ${SECRET}`, ...headers })

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'nothing'
  } catch (error) {
    return error instanceof Refusal ? error.code : String(error)
  }
}

describe('receiving a call', () => {
  test('turns the secret into its hash, and nothing else of it goes on', async () => {
    const chat = await received(request(keyed()))
    expect(chat).toMatchObject({ keyHash: expect.stringMatching(/^[0-9a-f]{64}$/), selector: null, idempotency: null })
    expect(JSON.stringify(chat)).not.toContain(SECRET)
  })

  test('judges the key first, then the headers, then the body', async () => {
    const bad = { 'idempotency-key': 'short' }
    expect(await codeOf(() => received(request(bad, '{')))).toBe('key_missing')
    expect(await codeOf(() => received(request({ ...bad, authorization: 'Bearer svc_x' }, '{')))).toBe('key_invalid')
    expect(await codeOf(() => received(request(keyed(bad), '{')))).toBe('idempotency_key_invalid')
    expect(await codeOf(() => received(request(keyed(), '{')))).toBe('invalid_json')
  })

  test.each([
    ['bearer ' + SECRET, 'nothing'],
    ['Bearer', 'key_missing'],
    ['Bearer ', 'key_missing'],
    [SECRET, 'key_missing'],
    ['Bearer svu_' + SECRET.slice(4), 'key_invalid'],
    [`Bearer ${SECRET} x`, 'key_invalid'],
    [`Bearer ${SECRET.slice(0, -1)}_`, 'key_invalid'],
  ])('Authorization: %s answers %s', async (authorization, code) => {
    expect(await codeOf(() => received(request({ authorization })))).toBe(code)
  })

  test.each([
    ['a'.repeat(7), 'idempotency_key_invalid'],
    ['a'.repeat(8), 'nothing'],
    ['~'.repeat(128), 'nothing'],
    ['a'.repeat(129), 'idempotency_key_invalid'],
    ['has a space', 'idempotency_key_invalid'],
    ['naïve-key', 'idempotency_key_invalid'],
    ['', 'idempotency_key_invalid'],
  ])('Idempotency-Key: %s answers %s', async (key, code) => {
    expect(await codeOf(() => received(request(keyed({ 'idempotency-key': key }))))).toBe(code)
  })
})

describe('the selector of a call', () => {
  const headers = (service?: string, project?: string) => ({
    headers: {
      ...(service !== undefined && { 'x-service-project': service }),
      ...(project !== undefined && { 'x-project-id': project }),
    },
  })

  test('is nothing, or the one value that all agree on', () => {
    expect(selectorOf(headers(), null)).toBe(null)
    expect(selectorOf(headers('prj_1', 'prj_1'), 'prj_1')).toBe('prj_1')
    expect(selectorOf(headers(undefined, 'prj_1'), null)).toBe('prj_1')
  })

  test('equals no project when values differ or one is empty', () => {
    expect(selectorOf(headers('prj_1', 'prj_2'), null)).toBe('prj_1 prj_2')
    expect(selectorOf(headers('prj_1'), '')).toBe('prj_1 ')
    expect(selectorOf(headers(''), null)).toBe('')
  })

  test('is bounded and storable, whatever the body says', () => {
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

  test('changes with whatever else is said', () => {
    const prints = [
      BODY,
      { ...BODY, stream: true },
      { ...BODY, stream: false },
      { ...BODY, user: 'me' },
      { ...BODY, stop: [] },
    ].map(fingerprintOf)
    expect(new Set(prints).size).toBe(prints.length)
  })

  test('exists also of half a surrogate pair', () => {
    expect(fingerprintOf({ ...BODY, user: '\ud83d' })).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('a body', () => {
  test.each([
    ['', 'it is empty'],
    [Buffer.from([0x22, 0xff, 0x22]), 'it is not UTF-8'],
    ['{"secret-text" 1}', "expected ':' after property name"],
    ['{"a": tru', 'unexpected end'],
    ['[}', "unexpected token '}'"],
    ['['.repeat(500_000), 'unexpected end'],
    [`${'['.repeat(101)}${']'.repeat(101)}`, 'it is nested more than 100 levels deep'],
  ])('%j is refused with its reason [invalid_json]', (text, reason) => {
    const refused = (() => {
      try {
        return parseJson(Buffer.from(text))
      } catch (error) {
        return error
      }
    })()
    expect(refused).toBeInstanceOf(Refusal)
    expect((refused as Refusal).body.code).toBe('invalid_json')
    expect((refused as Refusal).body.message).toContain(`: ${reason}`)
    expect((refused as Refusal).body.message.match(/not valid JSON/g)).toHaveLength(1)
  })

  test('of 100 levels is read', () => {
    expect(parseJson(Buffer.from(`${'['.repeat(100)}${']'.repeat(100)}`))).toBeInstanceOf(Array)
  })

  test('is taken up to its limit and not a byte further [request_too_large]', async () => {
    expect((await readBody(request({}, 'x'.repeat(10)), 10)).length).toBe(10)
    expect(await codeOf(() => readBody(request({}, 'x'.repeat(11)), 10))).toBe('request_too_large')
  })

  test('that says it is too large is refused before a byte of it is read', async () => {
    const req = request({ 'content-length': '11' })
    expect(await codeOf(() => readBody(req, 10))).toBe('request_too_large')
    expect(req.readableDidRead).toBe(false)
  })

  test('whose caller leaves before its end is nothing to answer', async () => {
    const req = Object.assign(new Readable({ read() {} }), { headers: {} }) as unknown as IncomingMessage
    const body = readBody(req, 10)
    req.destroy()
    await expect(body).rejects.toBeInstanceOf(CallerGone)
  })
})
