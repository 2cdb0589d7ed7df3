import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { describe, expect } from 'vitest'
import { errorOf, stackTest, newPrompt } from '../stack.fixture.ts'

const PER_MESSAGE = 8
const CAP = 50

/** Each word is three bytes and one token. */
const words = (count: number) => newPrompt() + ' ab'.repeat(count)
/** Same length, but each slice that is counted separately has a different text (packages/tokens/src/token-counter.ts). */
const otherWords = (count: number) => `${newPrompt()}${' ab'.repeat(100)} `.repeat(count / 100)
/** Token count of one user message: its text and its role, plus one token of margin for each. */
const tokensOf = (content: string) => countTokens(content) + countTokens('user') + 2
const asked = (content: string, more: object = {}) => ({
  messages: [{ role: 'user', content }],
  max_tokens: CAP,
  ...more,
})
const withKey = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } })

const test = stackTest
  .extend(
    'sell',
    ({ tenant }) =>
      (options: Parameters<typeof tenant.sell>[0] = {}) =>
        tenant.sell({ tokenizer: 'cl100k_base', perMessage: PER_MESSAGE, ...options }),
  )
  // Creates another project of the same owner and returns the secret of a key for it.
  .extend('keyOfProject', ({ tenant, fixture }) => async (funds: bigint, model: string) => {
    const project = await fixture.project(tenant.owners, funds)
    await fixture.assign(project.id, model)
    return (await fixture.key({ project, by: tenant.owners.owner })).secret
  })

describe('a prompt with fewer tokens than bytes', () => {
  for (const stream of [false, true]) {
    // spec: 4.2/s5, 7/r8, can/true-count
    test(`is admitted if its exact token count fits the context${stream ? ', streamed' : ''} [context_limit]`, async ({
      tenant,
      sell,
      stack,
    }) => {
      const content = words(2_000)
      const needed = tokensOf(content) + PER_MESSAGE + CAP
      expect(content.length).toBeGreaterThan(2 * needed)
      const fits = await tenant.chat(asked(content, { stream, model: await sell({ contextLength: needed }) }))
      expect(fits.status).toBe(200)
      await fits.text()
      expect(await stack.provider.control.countCalls({ prompt: content.slice(0, 20) })).toBe(1)

      const refused = await tenant.chat(asked(content, { stream, model: await sell({ contextLength: needed - 1 }) }))
      expect(refused.status).toBe(422)
      expect(await errorOf(refused)).toMatchObject({
        code: 'context_limit',
        param: 'messages',
        details: { promptTokens: needed - CAP, outputCap: CAP, contextLength: needed - 1 },
      })
    })
  }

  test('reserves its token count if the wallet cannot cover its byte bound [insufficient_budget]', async ({
    tenant,
    sell,
    keyOfProject,
  }) => {
    const content = words(2_000)
    const needed = tokensOf(content) + PER_MESSAGE + 2 * CAP
    const model = await sell()
    const call = asked(content, { model })
    const refused = await tenant.chat(call, withKey(await keyOfProject(BigInt(needed - 1), model)))
    expect(refused.status).toBe(402)
    expect(await errorOf(refused)).toMatchObject({
      code: 'insufficient_budget',
      details: { neededMicro: needed, availableMicro: needed - 1 },
    })
    expect((await tenant.chat(call, withKey(await keyOfProject(BigInt(needed), model)))).status).toBe(200)
  })

  test('reserves its token count if the key limit cannot cover its byte bound [key_limit]', async ({
    tenant,
    sell,
  }) => {
    const content = words(2_000)
    const needed = tokensOf(content) + PER_MESSAGE + 2 * CAP
    const call = asked(content, { model: await sell() })
    const keyWith = async (micro: number) =>
      (await tenant.key({ limit: { micro: BigInt(micro), reset: 'daily' } })).secret
    const refused = await tenant.chat(call, withKey(await keyWith(needed - 1)))
    expect(refused.status).toBe(403)
    expect(await errorOf(refused)).toMatchObject({ code: 'key_limit', details: { neededMicro: needed } })
    expect((await tenant.chat(call, withKey(await keyWith(needed)))).status).toBe(200)
  })

  test('is bounded by the tokens-per-byte rate of a product without a tokenizer [context_limit]', async ({
    tenant,
  }) => {
    const content = words(2_000) // 6 kilobytes
    const uncounted = (contextLength: number) => tenant.sell({ contextLength, tokensPerByteMillionths: 500_000 })
    const fits = await tenant.chat(asked(content, { model: await uncounted(4_000) }))
    expect(fits.status).toBe(200)
    const answer = await tenant.chat(asked(content, { model: await uncounted(3_000) }))
    const { code, details } = (await errorOf(answer)) as { code: string; details: { promptTokens: number } }
    expect(code).toBe('context_limit')
    const bytes = Buffer.byteLength(JSON.stringify({ messages: [{ role: 'user', content }] }))
    expect(details.promptTokens).toBe(Math.ceil(bytes / 2) + PER_MESSAGE)
  })

  // spec: 4.2/s5
  test('is never refused because the tokenizer is busy, with identical or different prompts', async ({
    tenant,
    sell,
  }) => {
    const model = await sell({ requestPico: 1_000_000n, contextLength: 60_000 })
    const same = asked(words(41_600), { model }) // 125 kilobytes
    const alike = await Promise.all(Array.from({ length: 30 }, () => tenant.chat(same)))
    const different = await Promise.all(
      Array.from({ length: 20 }, () => tenant.chat(asked(otherWords(38_000), { model }))),
    )
    for (const answer of [...alike, ...different]) expect(answer.status).toBe(200)
  })

  test('is charged for its actual usage and its response is saved for repeats', async ({ tenant, sell }) => {
    const call = asked(words(2_000), { model: await sell({ contextLength: 4_000 }) })
    const headers = { 'idempotency-key': newPrompt() }
    const first = await tenant.chat(call, { headers })
    const again = await tenant.chat(call, { headers })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const text = await first.text()
    expect(await again.text()).toBe(text)
    const { usage } = JSON.parse(text) as { usage: { prompt_tokens: number; completion_tokens: number } }
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: usage.prompt_tokens + 2 * usage.completion_tokens })
  })
})
