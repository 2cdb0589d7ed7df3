import { describe, expect } from 'vitest'
import { bodyOf, errorOf, eventsOf, stackTest as test, newPrompt } from '../../stack.fixture.ts'

const costOf = (usage: { prompt_tokens: number; completion_tokens: number }) =>
  usage.prompt_tokens + 2 * usage.completion_tokens

describe('a chat without streaming', () => {
  // spec: 0/s3, 1/s9, 1/s11, 2.5/s2, 4.2/s18
  test('is charged for its usage to the micro-USD and leaves nothing reserved', async ({ tenant }) => {
    const answer = await tenant.chat()
    expect(answer.status).toBe(200)
    const body = await bodyOf(answer)
    expect(body).toMatchObject({
      id: answer.headers.get('x-service-invocation'),
      object: 'chat.completion',
      model: tenant.model,
      choices: [{ index: 0, message: { role: 'assistant', content: expect.any(String) }, finish_reason: 'stop' }],
    })
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: costOf(body.usage) })
  })

  test('reaches the provider with an explicit output cap and without parameters the model does not support', async ({
    stack,
    tenant,
  }) => {
    const model = await tenant.sell({ supportedParameters: ['stop'], maxOutputTokens: 500 })
    const content = newPrompt()
    await tenant.chat({ model, messages: [{ role: 'user', content }], temperature: 1, stop: ['END'] })
    const [call] = await stack.provider.control.calls({ prompt: content })
    const sent = JSON.parse(call!.body!)
    expect(sent).toMatchObject({ model: 'sim', max_tokens: 500, stop: ['END'] })
    expect(sent).not.toHaveProperty('temperature')
  })

  test('is refused if the model does not support stop sequences [invalid_request]', async ({ tenant }) => {
    const model = await tenant.sell({ supportedParameters: ['max_tokens'] })
    const answer = await tenant.chat({ model, messages: [{ role: 'user', content: newPrompt() }], stop: ['END'] })
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request', param: 'stop' } })
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })

  test.for<[what: string, fault: { missingUsage?: true; usageFactor?: number }, reason: string]>([
    ['no usage', { missingUsage: true }, 'missing'],
    ['usage without tokens', { usageFactor: 0 }, 'no_prompt'],
  ])(
    'is charged for the token count of the gateway if the provider reports %s',
    async ([, fault, reason], { stack, tenant, fixture }) => {
      const content = newPrompt()
      await stack.provider.control.setFaults([{ prompt: content, text: 'one two three four five', ...fault }])
      const body = await bodyOf(await tenant.chat({ messages: [{ role: 'user', content }] }))
      expect(body.usage.completion_tokens).toBe(5)
      expect(body.usage.prompt_tokens).toBeGreaterThan(0)
      expect(await tenant.wallet()).toEqual({ reserved: 0, settled: costOf(body.usage) })
      const { rows } = await fixture.run('SELECT estimated FROM money.attempts WHERE id = $1', [body.id])
      expect(rows[0].estimated).toBe(true)
      const metrics = await (await fetch(`${tenant.metricsUrl}/metrics`)).text()
      expect(metrics).toMatch(
        new RegExp(
          `^gateway_provider_usage_replaced_total\\{provider="simulated",reason="${reason}"[^}]*\\} [1-9]`,
          'm',
        ),
      )
    },
  )

  test('costs nothing and can be retried under its idempotency key if the provider fails [provider_failed]', async ({
    stack,
    tenant,
  }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, status: 500, times: 1 }])
    const ask = () =>
      tenant.chat({ messages: [{ role: 'user', content }] }, { headers: { 'idempotency-key': `key-${content}` } })
    const failed = await ask()
    expect(failed.status).toBe(502)
    expect(await errorOf(failed)).toMatchObject({ code: 'provider_failed', type: 'api_error' })
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })

    const repeated = await ask()
    expect(repeated.status).toBe(200)
    expect(repeated.headers.get('x-service-invocation')).toBe(failed.headers.get('x-service-invocation'))
    expect(repeated.headers.get('idempotent-replayed')).toBeNull()
  })

  test('gets an error without the provider’s wording if the provider refuses the request [invalid_request]', async ({
    stack,
    tenant,
  }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([
      { prompt: content, status: 400, body: { error: { message: 'acme-cloud says no' } } },
    ])
    const refused = await tenant.chat({ messages: [{ role: 'user', content }] })
    expect(refused.status).toBe(400)
    expect(JSON.stringify(await errorOf(refused))).not.toMatch(/acme-cloud/)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })
})

describe('a chat with an idempotency key', () => {
  // spec: 4.2/r14, 4.2/s16, 4.5/r1
  test('is replayed byte for byte under the same invocation and charged once', async ({ stack, tenant }) => {
    const content = newPrompt()
    const ask = (more: object = {}) =>
      tenant.chat(
        { messages: [{ role: 'user', content }], ...more },
        { headers: { 'idempotency-key': `key-${content}` } },
      )
    const first = await ask()
    const text = await first.text()
    const again = await ask({ project_id: tenant.project, temperature: null })
    expect(await again.text()).toBe(text)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('x-service-invocation')).toBe(first.headers.get('x-service-invocation'))
    expect(await stack.provider.control.countCalls({ prompt: content })).toBe(1)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: costOf(JSON.parse(text).usage) })
  })

  test('is refused if the key was used with a different request [idempotency_mismatch]', async ({ tenant }) => {
    const headers = { 'idempotency-key': newPrompt() }
    await tenant.chat({}, { headers })
    const other = await tenant.chat({ stream: true }, { headers })
    expect(other.status).toBe(422)
    expect(await errorOf(other)).toMatchObject({ code: 'idempotency_mismatch' })
  })
})

// spec: 4.2/s15, 4.2/s17, 8.1/r11
test('each chat without an idempotency key is a separate call with its own charge', async ({ stack, tenant }) => {
  const content = newPrompt()
  const ask = async () => bodyOf(await tenant.chat({ messages: [{ role: 'user', content }] }))
  const [first, second] = [await ask(), await ask()]
  expect(second.id).not.toBe(first.id)
  expect(await stack.provider.control.countCalls({ prompt: content })).toBe(2)
  expect(await tenant.wallet()).toEqual({ reserved: 0, settled: costOf(first.usage) + costOf(second.usage) })
})

describe('a streamed chat', () => {
  // spec: 4.2/r3
  test('sends rebuilt chunks, the last with its usage, and [DONE] after it is charged', async ({ tenant }) => {
    const answer = await tenant.chat({ stream: true })
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const { chunks, done } = eventsOf(await answer.text())
    expect(done).toBe(true)
    const last = chunks.pop()!
    for (const chunk of chunks) expect(Object.keys(chunk)).toEqual(['id', 'object', 'created', 'model', 'choices'])
    expect(Object.keys(last)).toEqual(['id', 'object', 'created', 'model', 'choices', 'usage'])
    expect(last.choices[0]!.finish_reason).toBe('stop')
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: costOf(last.usage!) })
  })

  // spec: 4.2/r4
  test('reports usage in the last chunk if include_usage is set, and null before', async ({ tenant }) => {
    const answer = await tenant.chat({ stream: true, stream_options: { include_usage: true } })
    const { chunks, done } = eventsOf(await answer.text())
    expect(done).toBe(true)
    const last = chunks.pop()!
    expect(last.choices).toEqual([])
    expect(chunks.map(({ usage }) => usage)).toEqual(chunks.map(() => null))
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: costOf(last.usage!) })
  })

  test('is charged for the token count of the gateway if the provider reports no tokens', async ({ stack, tenant }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, text: 'one two three four five', usageFactor: 0 }])
    const fields = { stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content }] }
    const { usage } = eventsOf(await (await tenant.chat(fields)).text()).chunks.at(-1)!
    expect(usage).toMatchObject({ completion_tokens: 5 })
    expect(usage!.prompt_tokens).toBeGreaterThan(0)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: costOf(usage!) })
  })

  // spec: 4.2/s16
  test('is replayed with identical events', async ({ tenant }) => {
    const content = newPrompt()
    const ask = () =>
      tenant.chat(
        { stream: true, messages: [{ role: 'user', content }] },
        { headers: { 'idempotency-key': `key-${content}` } },
      )
    const first = await ask()
    const text = await first.text()
    const again = await ask()
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(text)
  })

  test('gets an HTTP error and is charged nothing if the provider fails before the first byte [provider_failed]', async ({
    stack,
    tenant,
  }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, cut: 'before-first-byte' }])
    const failed = await tenant.chat({ stream: true, messages: [{ role: 'user', content }] })
    expect(failed.status).toBe(502)
    expect(await errorOf(failed)).toMatchObject({ code: 'provider_failed' })
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })

  // spec: can/streams
  test('gets the error as an event and is charged nothing if its headers were sent before the first byte [provider_failed]', async ({
    stack,
    tenant,
  }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, hold: true, status: 500 }])
    const answer = await tenant.chat({ stream: true, messages: [{ role: 'user', content }] })
    expect(answer.status).toBe(200)
    await stack.provider.control.release()
    const { chunks, done } = eventsOf(await answer.text())
    expect(done).toBe(false)
    expect(chunks).toEqual([{ error: expect.objectContaining({ code: 'provider_failed' }) }])
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })

  // spec: can/streams
  test('truncated by the provider ends with an error and no [DONE], is charged for what was sent, and is saved', async ({
    stack,
    tenant,
    fixture,
  }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([
      { prompt: content, cut: { afterChunk: 4 }, text: 'one two three four five' },
    ])
    const ask = () =>
      tenant.chat(
        { stream: true, messages: [{ role: 'user', content }] },
        { headers: { 'idempotency-key': `key-${content}` } },
      )
    const answer = await ask()
    expect(answer.status).toBe(200)
    const text = await answer.text()
    const { chunks, done } = eventsOf(text)
    expect(done).toBe(false)
    expect(chunks.at(-1)!.error).toMatchObject({ code: 'provider_failed', message: expect.stringContaining('charged') })

    const { rows } = await fixture.run('SELECT completion_tokens, estimated FROM money.attempts WHERE id = $1', [
      chunks[0]!.id,
    ])
    expect(rows[0]).toEqual({ completion_tokens: 3, estimated: true })
    const again = await ask()
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(text)
  })
})
