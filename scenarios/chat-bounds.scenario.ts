import { describe, expect } from 'vitest'
import { hello, KB, MODEL, rows, user, type Body, type Refused } from './src/bound-rows.ts'
import { answerOf, refusalIn, type Answer } from './src/caller.ts'
import { houseTest } from './src/house-test.ts'
import { chat, type House, type Shop } from './src/house.ts'
import { rawChat, sendRaw } from './src/raw-http.ts'

// Every row of the tables in spec 4.2 and 8.1: what stands at its bound is taken, one beyond is refused with its code and its
// field, and nothing is held or charged for it.

const test = houseTest.extend('shop', { scope: 'file' }, async ({ house }) => {
  const shop = await house.shop(1_000_000_000n)
  const model = await house.world.product({ ...MODEL, promptPico: 1n, completionPico: 1n })
  await house.world.assign(shop.project.id, model)
  return { ...shop, model }
})

async function ask(house: House, shop: Shop, body: Body, headers: Record<string, string> = {}): Promise<Answer> {
  return answerOf(await chat(house, shop, { body: { messages: [hello], max_tokens: undefined, ...body }, headers }))
}

/** What the books say before and after a refusal. */
async function booksOf(house: House, shop: Shop) {
  const calls = await house.invocations(shop.project.id)
  return {
    wallet: await house.wallet(shop.project.id),
    open: await house.openHolds(shop.project.id),
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
      test(`${what}: taken`, async ({ house, shop }) => {
        const answer = await ask(house, shop, body)
        expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)])
        expect(answer.text).not.toContain('"error"')
      })

    for (const [what, row] of Object.entries(refused)) {
      const [body, { status = 400, code = 'invalid_request', param = field } = {}] = Array.isArray(row) ? row : [row]
      test(`${what}: refused [${code}]`, async ({ house, shop }) => {
        const before = await booksOf(house, shop)
        expectRefused(await ask(house, shop, body), { status, code, param })
        expect(await booksOf(house, shop)).toEqual(before)
      })
    }
  })
}

describe('a violation', () => {
  test('is said of its own field and of no other', async ({ house, shop }) => {
    const fieldOf = new Map<string, string>()
    for (const { refused } of rows)
      for (const row of Object.values(refused)) {
        const refusal = refusalIn(await ask(house, shop, Array.isArray(row) ? row[0] : row))!
        const { code, message, param } = refusal
        expect(fieldOf.get(message) ?? param).toBe(param)
        fieldOf.set(message, param!)
        if (code === 'invalid_request') expect(message).toContain(param!)
      }
    expect(fieldOf.size).toBeGreaterThan(40)
  })
})

describe('the whole request', () => {
  test('fits the context of the model to the token, or is refused [context_limit]', async ({ house, shop }) => {
    const { world } = house
    const body = { messages: [user('x'.repeat(1_000))], max_tokens: 100 }
    const bytes = Buffer.byteLength(JSON.stringify({ messages: body.messages }))
    const needed = bytes + 8 + 100 // with what the product wraps around a message
    for (const [contextLength, status] of [
      [needed, 200],
      [needed - 1, 422],
    ] as const) {
      const model = await world.product({ contextLength, perMessage: 8 })
      await world.assign(shop.project.id, model)
      const before = await booksOf(house, shop)
      const answer = await ask(house, { ...shop, model }, body)
      expect(answer.status).toBe(status)
      if (status === 200) continue
      expectRefused(answer, { status, code: 'context_limit', param: 'messages' })
      expect(refusalIn(answer)!.message).toContain('maximum context length')
      expect(await booksOf(house, shop)).toEqual(before)
    }
  })

  test('asks for the most that the model gives where it says nothing or 0', async ({ house, shop }) => {
    const { world, origin } = house
    for (const [maxOutputTokens, cap] of [
      [4_096, 4_096],
      [16_000, 8_192],
    ] as const) {
      const model = await world.product({ maxOutputTokens, promptPico: 1n, completionPico: 1n })
      await world.assign(shop.project.id, model)
      for (const max_tokens of [undefined, 0]) {
        const content = `Cap ${model} ${max_tokens}`
        await ask(house, { ...shop, model }, { messages: [user(content)], max_tokens })
        const [sent] = await origin.control.calls({ prompt: content })
        expect(JSON.parse(sent!.body!)).toMatchObject({ max_tokens: cap })
      }
    }
  })

  test('of 1 MiB is read, and one byte more is not [request_too_large]', async ({ house, shop }) => {
    const bodyOf = (bytes: number) => {
      const json = JSON.stringify({ model: shop.model, messages: [hello] })
      return json.slice(0, -1) + ' '.repeat(bytes - json.length) + '}'
    }
    const key = `Authorization: Bearer ${shop.key.secret}`
    const taken = await sendRaw(house.gateways[0]!.url, rawChat([key], bodyOf(1024 * KB)))
    expect(taken.status).toBe(200)
    const before = await booksOf(house, shop)
    const refused = await sendRaw(house.gateways[0]!.url, rawChat([key], bodyOf(1024 * KB + 1)))
    expect([refused.status, JSON.parse(refused.body).error.code]).toEqual([413, 'request_too_large'])
    expect(await booksOf(house, shop)).toEqual(before)
  })
})

describe('project_id', () => {
  test('may only say again what the key is bound to [project_mismatch]', async ({ house, shop }) => {
    expect((await ask(house, shop, { project_id: shop.project.id })).status).toBe(200)
    const before = await booksOf(house, shop)
    const other = await house.shop(1_000n)
    for (const project_id of [other.project.id, 'prj_none', ''])
      expect(refusalIn(await ask(house, shop, { project_id }))).toMatchObject({ code: 'project_mismatch' })
    expectRefused(await ask(house, shop, { project_id: 7 }), {
      status: 400,
      code: 'invalid_request',
      param: 'project_id',
    })
    expect(await booksOf(house, shop)).toEqual(before)
  })
})

describe('Idempotency-Key', () => {
  for (const length of [8, 128])
    test(`of ${length} characters: taken`, async ({ house, shop }) => {
      expect((await ask(house, shop, {}, { 'idempotency-key': 'k'.repeat(length) })).status).toBe(200)
    })

  for (const length of [7, 129])
    test(`of ${length} characters: refused [idempotency_key_invalid]`, async ({ house, shop }) => {
      const before = await booksOf(house, shop)
      const { status, body } = await ask(house, shop, {}, { 'idempotency-key': 'k'.repeat(length) })
      expect([status, refusalIn({ body })?.code]).toEqual([400, 'idempotency_key_invalid'])
      expect(await booksOf(house, shop)).toEqual(before)
    })
})
