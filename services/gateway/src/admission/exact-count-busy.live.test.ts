import { expect } from 'vitest'
import { bodyOf, errorOf, newPrompt, stackTest } from '../stack.fixture.ts'

// The limit on concurrent prompt characters is so low that this gateway can never count a prompt in time.

const CAP = 50
const test = stackTest
  .extend('settings', { scope: 'file' }, () => ({ gateway: { MAX_CONCURRENT_PROMPT_CHARACTERS: '1' } }))
  .extend(
    'call',
    ({ tenant }) =>
      (content: string, model: string, secret = tenant.secret) =>
        tenant.chat(
          { model, max_tokens: CAP, messages: [{ role: 'user', content }] },
          { headers: { authorization: `Bearer ${secret}` } },
        ),
  )

const prompt = () => newPrompt() + ' ab'.repeat(2_000) // 6 kilobytes, 2,000 tokens
const BYTES = 6_100

// spec: 4.2/s5
test('returns a retryable 503 and reserves nothing if only an exact token count could admit the call [overloaded]', async ({
  tenant,
  call,
  fixture,
}) => {
  const counted = { tokenizer: 'cl100k_base' }
  const small = await tenant.sell({ ...counted, contextLength: 4_000 })
  const large = await tenant.sell(counted)
  const limited = await tenant.key({ limit: { micro: 4_000n, reset: 'daily' } })
  const poor = await fixture.project(tenant.owners, 4_000n)
  await fixture.assign(poor.id, large)
  const keyOfPoor = await fixture.key({ project: poor, by: tenant.owners.owner })
  const answers = [
    await call(prompt(), small), // its byte bound exceeds the context,
    await call(prompt(), large, limited.secret), // the key's limit,
    await call(prompt(), large, keyOfPoor.secret), // and the wallet
  ]
  for (const answer of answers) {
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(answer.headers.get('x-should-retry')).toBe(null)
    expect(await errorOf(answer)).toMatchObject({ code: 'overloaded' })
  }
  expect((await tenant.wallet()).reserved).toBe(0)
})

test('admits a call whose byte bound fits, and refuses one that no token count could admit [context_limit] [key_limit]', async ({
  tenant,
  call,
}) => {
  const model = await tenant.sell({ tokenizer: 'cl100k_base' })
  expect((await bodyOf(await call(prompt(), model))).usage.prompt_tokens).toBeLessThan(BYTES)

  const tooSmall = await tenant.sell({ tokenizer: 'cl100k_base', contextLength: 2_000 }) // fewer tokens than words
  expect(await errorOf(await call(prompt(), tooSmall))).toMatchObject({ code: 'context_limit' })

  const spent = await tenant.key({ limit: { micro: BigInt(2 * CAP), reset: 'daily' } }) // the output cap costs as much
  expect(await errorOf(await call(prompt(), model, spent.secret))).toMatchObject({ code: 'key_limit' })
})
