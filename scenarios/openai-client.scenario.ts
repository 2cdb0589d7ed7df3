import OpenAI, { AuthenticationError, NotFoundError } from 'openai'
import { describe, expect } from 'vitest'
import { houseTest as test } from './src/house-test.ts'

// The stock client of OpenAI for Node, unmodified, given nothing but a base address and a key.

const shopTest = test.extend('shop', async ({ house }) => {
  const shop = await house.shop(10_000_000n)
  const client = new OpenAI({ baseURL: `${house.gateways[0]!.url}/v1`, apiKey: shop.key.secret, maxRetries: 0 })
  return { ...shop, client }
})

describe('the stock openai client', () => {
  shopTest('lists what the key can call', async ({ shop }) => {
    const models = await shop.client.models.list()
    expect(models.data.map(({ id }) => id)).toEqual([shop.model])
    expect(await shop.client.models.retrieve(shop.model)).toMatchObject({
      id: shop.model,
      object: 'model',
      owned_by: 'acme',
    })
  })

  shopTest('completes, and the wallet is charged to the micro-USD', async ({ house, shop }) => {
    const completion = await shop.client.chat.completions.create({
      model: shop.model,
      messages: [{ role: 'user', content: 'Write a line about rivers.' }],
      max_tokens: 40,
    })
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: shop.model,
      choices: [{ index: 0, message: { role: 'assistant' } }],
    })
    expect(completion.choices[0]!.message.content).toBeTruthy()
    const { usage } = completion
    expect((await house.wallet(shop.project.id)).settled).toBe(BigInt(usage!.prompt_tokens + usage!.completion_tokens))
    expect(await house.openHolds(shop.project.id)).toBe(0)
  })

  shopTest('streams, with the usage at the end on request', async ({ house, shop }) => {
    const stream = await shop.client.chat.completions.create({
      model: shop.model,
      messages: [{ role: 'user', content: 'Write three lines about rivers.' }],
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let usage: OpenAI.CompletionUsage | null | undefined
    let finish: string | null | undefined
    for await (const chunk of stream) {
      expect(chunk.model).toBe(shop.model)
      text += chunk.choices[0]?.delta.content ?? ''
      finish = chunk.choices[0]?.finish_reason ?? finish
      usage = chunk.usage ?? usage
    }
    expect(text.length).toBeGreaterThan(10)
    expect(finish).toBe('stop')
    expect((await house.wallet(shop.project.id)).settled).toBe(BigInt(usage!.prompt_tokens + usage!.completion_tokens))
  })

  shopTest('calls a tool in two rounds, each charged', async ({ house, shop }) => {
    const tools: OpenAI.ChatCompletionTool[] = [
      {
        type: 'function',
        function: {
          name: 'weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ]
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What is the weather in Bern?' }]
    const first = await shop.client.chat.completions.create({ model: shop.model, messages, tools })
    const asked = first.choices[0]!
    expect(asked.finish_reason).toBe('tool_calls')
    const call = asked.message.tool_calls![0]!
    expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } })
    messages.push(asked.message, { role: 'tool', tool_call_id: call.id, content: '{"degrees":21}' })
    const second = await shop.client.chat.completions.create({ model: shop.model, messages, tools })
    expect(second.choices[0]!.message.content).toBeTruthy()
    const spent = [first, second].reduce((sum, { usage }) => sum + usage!.prompt_tokens + usage!.completion_tokens, 0)
    expect((await house.wallet(shop.project.id)).settled).toBe(BigInt(spent))
  })

  shopTest(
    'gets typed errors for a bad key and an unknown model [key_invalid] [model_not_found]',
    async ({ house, shop }) => {
      const stranger = new OpenAI({ baseURL: `${house.gateways[0]!.url}/v1`, apiKey: 'svc_wrong', maxRetries: 0 })
      const messages = [{ role: 'user' as const, content: 'Hello' }]
      await expect(stranger.chat.completions.create({ model: shop.model, messages })).rejects.toThrow(
        AuthenticationError,
      )
      const unknown = shop.client.chat.completions.create({ model: 'acme/nothing', messages })
      await expect(unknown).rejects.toThrow(NotFoundError)
      await expect(unknown).rejects.toMatchObject({ code: 'model_not_found', type: 'not_found_error', status: 404 })
      expect((await house.wallet(shop.project.id)).settled).toBe(0n)
    },
  )
})
