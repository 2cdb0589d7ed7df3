import { describe, expect } from 'vitest'
import { chat, type Stack } from './src/stack.ts'
import { stackTest } from './src/stack-test.ts'
import { rawChat, sendRaw } from './src/raw-http.ts'

// Whatever comes in: the refusal of rules §2.1, nothing charged, and never a stack trace.

const test = stackTest.extend('tenant', { scope: 'file' }, ({ stack }) => stack.tenant(1_000_000n))

interface RefusalAnswer {
  error: { code: string; type: string; param: string | null; message: string; resolution: string }
}

function expectRefusal(text: string, code: string): RefusalAnswer['error'] {
  const { error } = JSON.parse(text) as RefusalAnswer
  expect(error.code).toBe(code)
  expect(error.message.length).toBeGreaterThan(5)
  expect(error.resolution.length).toBeGreaterThan(5)
  expect(text).not.toMatch(/\.ts:\d+|node_modules|at [A-Za-z]+ \(/)
  return error
}

async function expectNothingCharged(stack: Stack, project: string): Promise<void> {
  const { reserved, settled } = await stack.wallet(project)
  expect({ reserved, settled }).toEqual({ reserved: 0n, settled: 0n })
}

describe('keys', () => {
  const wrong: [what: string, header: string | null, code: string][] = [
    ['none', null, 'key_missing'],
    ['another scheme', 'Basic dXNlcjpwYXNz', 'key_missing'],
    ['an empty one', 'Bearer ', 'key_missing'],
    ['a malformed one', 'Bearer svc_short', 'key_invalid'],
    ['one with a wrong checksum', `Bearer svc_${'A'.repeat(49)}`, 'key_invalid'],
    ['a person’s token', `Bearer svu_${'A'.repeat(49)}`, 'key_invalid'],
  ]
  for (const [what, header, code] of wrong) {
    test(`${what} is refused [${code}]`, async ({ stack, tenant }) => {
      const answer = await fetch(`${stack.gateways[0]!.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(header !== null && { authorization: header }) },
        body: JSON.stringify({ model: tenant.model, messages: [{ role: 'user', content: 'Hello' }] }),
      })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expectRefusal(await answer.text(), code)
    })
  }

  test('revoked, expired, unbound ones and those whose creator lost the permissions [key_revoked] [key_expired] [key_unbound] [key_issuer_denied]', async ({
    stack,
  }) => {
    const tenant = await stack.tenant(1_000_000n)
    const { fixture } = stack
    const keys = {
      key_revoked: await fixture.key({ project: tenant.project, by: tenant.owner, revoked: true }),
      key_expired: await fixture.key({ project: tenant.project, by: tenant.owner, expiresInMs: -1 }),
      key_unbound: await fixture.key({ project: null, by: tenant.owner, tenant: tenant.project.tenant }),
      key_issuer_denied: await fixture.key({ project: tenant.project, by: await fixture.person() }),
    }
    for (const [code, key] of Object.entries(keys)) {
      const answer = await chat(stack, { key, model: tenant.model })
      expect(answer.status).toBe(code === 'key_revoked' || code === 'key_expired' ? 401 : 403)
      expectRefusal(await answer.text(), code)
      const models = await fetch(`${stack.gateways[0]!.url}/v1/models`, {
        headers: { authorization: `Bearer ${key.secret}` },
      })
      expectRefusal(await models.text(), code)
    }
    await expectNothingCharged(stack, tenant.project.id)
  })

  test('unknown and malformed ones answer alike, byte for byte', async ({ stack, tenant }) => {
    const answers = await Promise.all(
      ['svc_short', 'svc_' + 'B'.repeat(49), 'garbage'].map(async (secret) => {
        const answer = await chat(stack, { key: { ...tenant.key, secret }, model: tenant.model })
        return `${answer.status} ${await answer.text()}`
      }),
    )
    expect(new Set(answers).size).toBe(1)
  })
})

describe('bodies', () => {
  const bodies: [what: string, body: string, status: number, code: string, param?: string][] = [
    ['nothing', '', 400, 'invalid_json'],
    ['half an object', '{"model":', 400, 'invalid_json'],
    ['not UTF-8', '{"model":"\xff', 400, 'invalid_json'],
    ['a list', '[]', 400, 'invalid_request'],
    ['a text', '"hello"', 400, 'invalid_request'],
    ['no model', '{"messages":[{"role":"user","content":"hi"}]}', 400, 'invalid_request', 'model'],
    ['no messages', '{"model":"m"}', 400, 'invalid_request', 'messages'],
    ['messages of the wrong type', '{"model":"m","messages":"hi"}', 400, 'invalid_request', 'messages'],
    [
      'an unknown field',
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"surprise":1}',
      400,
      'invalid_request',
      'surprise',
    ],
    [
      'too hot',
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":3}',
      400,
      'invalid_request',
      'temperature',
    ],
    ['two completions', '{"model":"m","messages":[{"role":"user","content":"hi"}],"n":2}', 400, 'invalid_request', 'n'],
    ['a bottomless nest', `{"model":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400, 'invalid_json'],
  ]
  for (const [what, body, status, code, param] of bodies) {
    test(`${what} [${code}]`, async ({ stack, tenant }) => {
      const answer = await sendRaw(
        stack.gateways[0]!.url,
        rawChat([`Authorization: Bearer ${tenant.key.secret}`], body),
      )
      expect(answer.status).toBe(status)
      const error = expectRefusal(answer.body, code)
      if (param) expect(error.param).toBe(param)
      await expectNothingCharged(stack, tenant.project.id)
    })
  }

  test('a huge one is refused before it is read whole [request_too_large]', async ({ stack, tenant }) => {
    const announced = await sendRaw(
      stack.gateways[0]!.url,
      rawChat([`Authorization: Bearer ${tenant.key.secret}`], '{', 100_000_000),
    )
    expect(announced.status).toBe(413)
    expectRefusal(announced.body, 'request_too_large')
    const body = JSON.stringify({ model: tenant.model, messages: [{ role: 'user', content: 'x'.repeat(1_100_000) }] })
    const sent = await fetch(`${stack.gateways[0]!.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.key.secret}` },
      body,
    })
    expect(sent.status).toBe(413)
    await expectNothingCharged(stack, tenant.project.id)
  })
})

describe('headers', () => {
  const good = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] })
  for (const header of ['Authorization', 'Idempotency-Key', 'X-Service-Project', 'X-Project-ID']) {
    test(`${header} sent twice [duplicate_header]`, async ({ stack, tenant }) => {
      const value =
        header === 'Authorization'
          ? `Bearer ${tenant.key.secret}`
          : header === 'Idempotency-Key'
            ? 'abcdefgh'
            : tenant.project.id
      const headers = [
        ...(header === 'Authorization' ? [] : [`Authorization: Bearer ${tenant.key.secret}`]),
        `${header}: ${value}`,
        `${header}: ${value}`,
      ]
      const answer = await sendRaw(stack.gateways[0]!.url, rawChat(headers, good(tenant.model)))
      expect(answer.status).toBe(400)
      expectRefusal(answer.body, 'duplicate_header')
      await expectNothingCharged(stack, tenant.project.id)
    })
  }

  for (const value of ['short', 'x'.repeat(129), 'with space in it', 'ümlaut-ümlaut']) {
    test(`an Idempotency-Key ${value.slice(0, 16)} [idempotency_key_invalid]`, async ({ stack, tenant }) => {
      const headers = [`Authorization: Bearer ${tenant.key.secret}`, `Idempotency-Key: ${value}`]
      const answer = await sendRaw(stack.gateways[0]!.url, rawChat(headers, good(tenant.model)))
      expect(answer.status).toBe(400)
      expectRefusal(answer.body, 'idempotency_key_invalid')
    })
  }

  test('a selector of another project is refused before any money [project_mismatch]', async ({ stack, tenant }) => {
    for (const headers of [
      { 'x-service-project': 'prj_other' },
      { 'x-project-id': 'prj_other' },
      { 'x-service-project': tenant.project.id, 'x-project-id': 'prj_other' },
    ]) {
      const answer = await chat(stack, tenant, { headers })
      expect(answer.status).toBe(403)
      expectRefusal(await answer.text(), 'project_mismatch')
    }
    const inBody = await chat(stack, tenant, { body: { project_id: 'prj_other' } })
    expect(inBody.status).toBe(403)
    await expectNothingCharged(stack, tenant.project.id)
  })

  test('no request at all is answered in the shape of a refusal', async ({ stack }) => {
    const answer = await sendRaw(stack.gateways[0]!.url, 'BLAH blah\r\n\r\n')
    expect(answer.status).toBe(400)
    expect(answer.headers).toContain('X-Content-Type-Options: nosniff')
    expectRefusal(answer.body, 'invalid_request')
  })
})

describe('paths', () => {
  const paths: [method: string, path: string, status: number, code: string][] = [
    ['GET', '/', 404, 'not_found'],
    ['POST', '/v1/responses', 404, 'not_found'],
    ['POST', '/v1/completions', 404, 'not_found'],
    ['GET', '/v1/chat/completions', 405, 'method_not_allowed'],
    ['DELETE', '/v1/models', 405, 'method_not_allowed'],
    ['GET', '/v1/models/acme/nothing', 404, 'model_not_found'],
  ]
  for (const [method, path, status, code] of paths) {
    test(`${method} ${path} [${code}]`, async ({ stack, tenant }) => {
      const answer = await fetch(`${stack.gateways[0]!.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${tenant.key.secret}` },
      })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('x-request-id')).toBeTruthy()
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      if (status === 405) expect(answer.headers.get('allow')).toBeTruthy()
      const error = expectRefusal(await answer.text(), code)
      if (code === 'not_found') expect(error.resolution).toContain('/v1/chat/completions')
    })
  }
})
