import OpenAI, { AuthenticationError, NotFoundError } from 'openai'
import { describe, expect } from 'vitest'
import { stackTest as test } from './src/stack-test.ts'

// The unmodified OpenAI client for Node, configured with a base URL and a key only.

const tenantTest = test.extend('tenant', async ({ stack }) => {
  const tenant = await stack.tenant(10_000_000n)
  const client = new OpenAI({ baseURL: `${stack.gateways[0]!.url}/v1`, apiKey: tenant.key.secret, maxRetries: 0 })
  return { ...tenant, client }
})

describe('the stock OpenAI client', () => {
  // spec: 0/s4, 1/s4, 4.1/s2
  tenantTest('lists the models that the key can call', async ({ tenant }) => {
    const models = await tenant.client.models.list()
    expect(models.data.map(({ id }) => id)).toEqual([tenant.model])
    expect(await tenant.client.models.retrieve(tenant.model)).toMatchObject({
      id: tenant.model,
      object: 'model',
      owned_by: 'acme',
    })
  })

  // spec: 1/s1, 4.2/s7
  tenantTest('completes a chat, charged to the micro-USD', async ({ stack, tenant }) => {
    const completion = await tenant.client.chat.completions.create({
      model: tenant.model,
      messages: [{ role: 'user', content: 'Write a line about rivers.' }],
      max_tokens: 40,
    })
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: tenant.model,
      choices: [{ index: 0, message: { role: 'assistant' } }],
    })
    expect(completion.choices[0]!.message.content).toBeTruthy()
    const { usage } = completion
    expect((await stack.wallet(tenant.project.id)).settled).toBe(
      BigInt(usage!.prompt_tokens + usage!.completion_tokens),
    )
    expect(await stack.openReservations(tenant.project.id)).toBe(0)
  })

  // spec: 1/s4
  tenantTest('streams a chat, with usage at the end on request', async ({ stack, tenant }) => {
    const stream = await tenant.client.chat.completions.create({
      model: tenant.model,
      messages: [{ role: 'user', content: 'Write three lines about rivers.' }],
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let usage: OpenAI.CompletionUsage | null | undefined
    let finish: string | null | undefined
    for await (const chunk of stream) {
      expect(chunk.model).toBe(tenant.model)
      text += chunk.choices[0]?.delta.content ?? ''
      finish = chunk.choices[0]?.finish_reason ?? finish
      usage = chunk.usage ?? usage
    }
    expect(text.length).toBeGreaterThan(10)
    expect(finish).toBe('stop')
    expect((await stack.wallet(tenant.project.id)).settled).toBe(
      BigInt(usage!.prompt_tokens + usage!.completion_tokens),
    )
  })

  // spec: 4.2/s2
  tenantTest('calls a tool in two rounds and is charged for each', async ({ stack, tenant }) => {
    const tools: OpenAI.ChatCompletionTool[] = [
      {
        type: 'function',
        function: {
          name: 'forecast',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ]
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What is the forecast in Bern?' }]
    const first = await tenant.client.chat.completions.create({ model: tenant.model, messages, tools })
    const asked = first.choices[0]!
    expect(asked.finish_reason).toBe('tool_calls')
    const call = asked.message.tool_calls![0]!
    expect(call).toMatchObject({ type: 'function', function: { name: 'forecast' } })
    messages.push(asked.message, { role: 'tool', tool_call_id: call.id, content: '{"degrees":21}' })
    const second = await tenant.client.chat.completions.create({ model: tenant.model, messages, tools })
    expect(second.choices[0]!.message.content).toBeTruthy()
    const spent = [first, second].reduce((sum, { usage }) => sum + usage!.prompt_tokens + usage!.completion_tokens, 0)
    expect((await stack.wallet(tenant.project.id)).settled).toBe(BigInt(spent))
  })

  tenantTest(
    'throws typed errors for an invalid key and an unknown model [key_invalid] [model_not_found]',
    async ({ stack, tenant }) => {
      const unidentified = new OpenAI({ baseURL: `${stack.gateways[0]!.url}/v1`, apiKey: 'svc_wrong', maxRetries: 0 })
      const messages = [{ role: 'user' as const, content: 'Hello' }]
      await expect(unidentified.chat.completions.create({ model: tenant.model, messages })).rejects.toThrow(
        AuthenticationError,
      )
      const unknown = tenant.client.chat.completions.create({ model: 'acme/nothing', messages })
      await expect(unknown).rejects.toThrow(NotFoundError)
      await expect(unknown).rejects.toMatchObject({ code: 'model_not_found', type: 'not_found_error', status: 404 })
      expect((await stack.wallet(tenant.project.id)).settled).toBe(0n)
    },
  )
})
