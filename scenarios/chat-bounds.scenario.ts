import { describe, expect } from 'vitest'
import { hello, KB, MODEL, rows, user, type Body, type Refused } from './src/bound-rows.ts'
import { answerOf, refusalIn, type Answer } from './src/caller.ts'
import { stackTest } from './src/stack-test.ts'
import { chat, type Stack, type TenantFixture } from './src/stack.ts'
import { rawChat, sendRaw } from './src/raw-http.ts'

// Every row of the tables in spec 4.2 and 8.1: what stands at its bound is taken, one beyond is refused with its code and its
// field, and nothing is held or charged for it.

const test = stackTest.extend('tenant', { scope: 'file' }, async ({ stack }) => {
  const tenant = await stack.tenant(1_000_000_000n)
  const model = await stack.fixture.publishProduct({ ...MODEL, promptPico: 1n, completionPico: 1n })
  await stack.fixture.assign(tenant.project.id, model)
  return { ...tenant, model }
})

async function ask(
  stack: Stack,
  tenant: TenantFixture,
  body: Body,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return answerOf(await chat(stack, tenant, { body: { messages: [hello], max_tokens: undefined, ...body }, headers }))
}

/** What the books say before and after a refusal. */
async function booksOf(stack: Stack, tenant: TenantFixture) {
  const calls = await stack.invocations(tenant.project.id)
  return {
    wallet: await stack.wallet(tenant.project.id),
    open: await stack.openReservations(tenant.project.id),
    calls: calls.length,
  }
}

function expectRefused({ status, body, headers }: Answer, wanted: Refused): void {
  const refusal = refusalIn({ body })
  expect({ status, code: refusal?.code, param: refusal?.param }).toEqual(wanted)
  expect(refusal!.message.length).toBeGreaterThan(5)
  expect(refusal!.resolution.length).toBeGreaterThan(5)
  expect(headers.get('x-service-invocation')).toBe(null)
}

for (const { field, taken, refused } of rows) {
  describe(`the field ${field}`, () => {
    for (const [what, body] of Object.entries(taken))
      test(`${what}: taken`, async ({ stack, tenant }) => {
        const answer = await ask(stack, tenant, body)
        expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)])
        expect(answer.text).not.toContain('"error"')
      })

    for (const [what, row] of Object.entries(refused)) {
      const [body, { status = 400, code = 'invalid_request', param = field } = {}] = Array.isArray(row) ? row : [row]
      test(`${what}: refused [${code}]`, async ({ stack, tenant }) => {
        const before = await booksOf(stack, tenant)
        expectRefused(await ask(stack, tenant, body), { status, code, param })
        expect(await booksOf(stack, tenant)).toEqual(before)
      })
    }
  })
}

describe('a violation', () => {
  test('is said of its own field and of no other', async ({ stack, tenant }) => {
    const fieldOf = new Map<string, string>()
    for (const { refused } of rows)
      for (const row of Object.values(refused)) {
        const refusal = refusalIn(await ask(stack, tenant, Array.isArray(row) ? row[0] : row))!
        const { code, message, param } = refusal
        expect(fieldOf.get(message) ?? param).toBe(param)
        fieldOf.set(message, param!)
        if (code === 'invalid_request') expect(message).toContain(param!)
      }
    expect(fieldOf.size).toBeGreaterThan(40)
  })
})

describe('the whole request', () => {
  test('fits the context of the model to the token, or is refused [context_limit]', async ({ stack, tenant }) => {
    const { fixture } = stack
    const body = { messages: [user('x'.repeat(1_000))], max_tokens: 100 }
    const bytes = Buffer.byteLength(JSON.stringify({ messages: body.messages }))
    const needed = bytes + 8 + 100 // with what the product wraps around a message
    for (const [contextLength, status] of [
      [needed, 200],
      [needed - 1, 422],
    ] as const) {
      const model = await fixture.publishProduct({ contextLength, perMessage: 8 })
      await fixture.assign(tenant.project.id, model)
      const before = await booksOf(stack, tenant)
      const answer = await ask(stack, { ...tenant, model }, body)
      expect(answer.status).toBe(status)
      if (status === 200) continue
      expectRefused(answer, { status, code: 'context_limit', param: 'messages' })
      expect(refusalIn(answer)!.message).toContain('maximum context length')
      expect(await booksOf(stack, tenant)).toEqual(before)
    }
  })

  test('asks for the most that the model gives where it says nothing or 0', async ({ stack, tenant }) => {
    const { fixture, provider } = stack
    for (const [maxOutputTokens, cap] of [
      [4_096, 4_096],
      [16_000, 8_192],
    ] as const) {
      const model = await fixture.publishProduct({ maxOutputTokens, promptPico: 1n, completionPico: 1n })
      await fixture.assign(tenant.project.id, model)
      for (const max_tokens of [undefined, 0]) {
        const content = `Cap ${model} ${max_tokens}`
        await ask(stack, { ...tenant, model }, { messages: [user(content)], max_tokens })
        const [sent] = await provider.control.calls({ prompt: content })
        expect(JSON.parse(sent!.body!)).toMatchObject({ max_tokens: cap })
      }
    }
  })

  test('of 1 MiB is read, and one byte more is not [request_too_large]', async ({ stack, tenant }) => {
    const bodyOf = (bytes: number) => {
      const json = JSON.stringify({ model: tenant.model, messages: [hello] })
      return json.slice(0, -1) + ' '.repeat(bytes - json.length) + '}'
    }
    const key = `Authorization: Bearer ${tenant.key.secret}`
    const taken = await sendRaw(stack.gateways[0]!.url, rawChat([key], bodyOf(1024 * KB)))
    expect(taken.status).toBe(200)
    const before = await booksOf(stack, tenant)
    const refused = await sendRaw(stack.gateways[0]!.url, rawChat([key], bodyOf(1024 * KB + 1)))
    expect([refused.status, JSON.parse(refused.body).error.code]).toEqual([413, 'request_too_large'])
    expect(await booksOf(stack, tenant)).toEqual(before)
  })
})

describe('project_id', () => {
  test('may only say again what the key is bound to [project_mismatch]', async ({ stack, tenant }) => {
    expect((await ask(stack, tenant, { project_id: tenant.project.id })).status).toBe(200)
    const before = await booksOf(stack, tenant)
    const other = await stack.tenant(1_000n)
    for (const project_id of [other.project.id, 'prj_none', ''])
      expect(refusalIn(await ask(stack, tenant, { project_id }))).toMatchObject({ code: 'project_mismatch' })
    expectRefused(await ask(stack, tenant, { project_id: 7 }), {
      status: 400,
      code: 'invalid_request',
      param: 'project_id',
    })
    expect(await booksOf(stack, tenant)).toEqual(before)
  })
})

describe('Idempotency-Key', () => {
  for (const length of [8, 128])
    test(`of ${length} characters: taken`, async ({ stack, tenant }) => {
      expect((await ask(stack, tenant, {}, { 'idempotency-key': 'k'.repeat(length) })).status).toBe(200)
    })

  for (const length of [7, 129])
    test(`of ${length} characters: refused [idempotency_key_invalid]`, async ({ stack, tenant }) => {
      const before = await booksOf(stack, tenant)
      const { status, body } = await ask(stack, tenant, {}, { 'idempotency-key': 'k'.repeat(length) })
      expect([status, refusalIn({ body })?.code]).toEqual([400, 'idempotency_key_invalid'])
      expect(await booksOf(stack, tenant)).toEqual(before)
    })
})
