import { admissionCheck } from '@gateway/api/admission-check'
import { describe, expect } from 'vitest'
import { errorOf, newPrompt, stackTest } from '../../stack.fixture.ts'

const test = stackTest.extend(
  'ask',
  ({ tenant }) =>
    (body: object, headers: Record<string, string> = {}) =>
      fetch(`${tenant.url}/v1/key/check`, {
        method: 'POST',
        headers: { ...tenant.headers, ...headers },
        body: JSON.stringify(body),
      }),
)
const checkOf = async (answer: Response) => {
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
  return admissionCheck.parse(await answer.json())
}
const failing = ({ rules }: { rules: { rule: string; outcome: string }[] }) =>
  rules.find(({ outcome }) => outcome === 'fail')?.rule

describe('POST /v1/key/check', () => {
  test('reports that a call would be admitted, and the amount that the call then reserves', async ({
    stack,
    tenant,
    ask,
  }) => {
    const { control } = stack.provider
    const content = newPrompt()
    const messages = [{ role: 'user', content }]
    const check = await checkOf(await ask({ model: tenant.model, messages, maxTokens: 20 }))
    expect(check).toMatchObject({ admitted: true, outputCap: 20, counted: false, refusal: null })
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
    await control.setFaults([{ prompt: content, hold: true }])
    const running = tenant.chat({ messages, max_tokens: 20 })
    await control.waitForCalls(1, { prompt: content })
    expect((await tenant.wallet()).reserved).toBe(check.boundMicro)
    await control.release()
    await (await running).text()
  })

  test('reports the same refusal that the call would get [insufficient_budget] [model_not_found]', async ({
    tenant,
    fixture,
    ask,
  }) => {
    const model = await tenant.sell({ promptPico: 0n, completionPico: 100_000_000_000n })
    const check = await checkOf(await ask({ model, promptBytes: 100, maxTokens: 100 }))
    expect(check).toMatchObject({ admitted: false, boundMicro: 10_000_000 })
    expect(failing(check)).toBe('wallet')
    const refused = await errorOf(await tenant.chat({ model, max_tokens: 100 }))
    expect(check.refusal).toEqual(refused)
    const none = await checkOf(await ask({ model: 'acme/none' }))
    expect(failing(none)).toBe('model')
    const { model: theirs } = await fixture.callableTenant() // a model of another tenant looks like an unknown one
    const text = JSON.stringify(await checkOf(await ask({ model: theirs })))
    expect(JSON.parse(text.replaceAll(theirs, 'acme/none'))).toEqual(none)
  })

  test('counts the tokens of a prompt whose byte bound exceeds the context, as the call does [context_limit]', async ({
    tenant,
    ask,
  }) => {
    const model = await tenant.sell({ tokenizer: 'cl100k_base', contextLength: 4_000 })
    const messages = [{ role: 'user', content: newPrompt() + ' ab'.repeat(2_000) }]
    const check = await checkOf(await ask({ model, messages, maxTokens: 50 }))
    expect(check).toMatchObject({ admitted: true, counted: true })
    expect((await tenant.chat({ model, messages, max_tokens: 50 })).status).toBe(200)
    const bytes = await checkOf(await ask({ model, promptBytes: 6_000, maxTokens: 50 }))
    expect([bytes.counted, failing(bytes), bytes.refusal?.code]).toEqual([false, 'context', 'context_limit'])
  })
})

describe('POST /v1/key/check rejects', () => {
  test.for([
    [{}, 'model'],
    [{ model: 'sbx-none' }, 'model'],
    [{ model: 'acme/none', maxTokens: 8_193 }, 'maxTokens'],
    [{ model: 'acme/none', promptBytes: 1, messages: [{ role: 'user', content: 'Hello' }] }, 'promptBytes'],
    [{ model: 'acme/none', stream: true }, 'stream'],
  ] as const)('the invalid body %j [invalid_request]', async ([body, param], { ask }) => {
    const answer = await ask(body)
    expect([answer.status, await errorOf(answer)]).toMatchObject([400, { code: 'invalid_request', param }])
  })
})
