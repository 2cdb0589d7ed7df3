import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { FORECAST, type CallOptions, type Spoken, type StockClient } from './stock-client.ts'

const CITY = z.object({ city: z.string(), population: z.number(), capital: z.boolean() })

/** Mastra, whose models by address are called on the wire of chat completions. */
export const mastra: StockClient = {
  name: 'Mastra',
  at({ baseUrl, key, model }) {
    const agentOf = ({ idempotencyKey, retries = 0 }: CallOptions = {}, more: object = {}) =>
      new Agent({
        id: 'assistant',
        name: 'Assistant',
        instructions: '',
        model: {
          providerId: 'gateway',
          modelId: model,
          url: baseUrl,
          apiKey: key,
          ...(idempotencyKey && { headers: { 'Idempotency-Key': idempotencyKey } }),
        },
        maxRetries: retries,
        ...more,
      })
    return {
      async complete(prompt, options) {
        const { text, totalUsage } = await agentOf(options).generate(prompt)
        return { text, usage: usageOf(totalUsage) }
      },
      async stream(prompt, options) {
        const result = await agentOf(options).stream(prompt)
        const said = { text: '', pieces: 0 }
        for await (const piece of result.textStream) {
          said.text += piece
          said.pieces++
        }
        if (result.error) throw result.error // the stream of texts ends without it
        return { ...said, usage: usageOf(await result.totalUsage) }
      },
      async useTool(prompt, forecast) {
        const lookUp = createTool({
          id: FORECAST.name,
          description: FORECAST.description,
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => Promise.resolve(forecast(city)),
        })
        const { text, totalUsage } = await agentOf({}, { tools: { [FORECAST.name]: lookUp } }).generate(prompt)
        return { text, usage: usageOf(totalUsage) }
      },
      async object(prompt) {
        const { object, text, totalUsage } = await agentOf().generate(prompt, { structuredOutput: { schema: CITY } })
        return { value: object, text, usage: usageOf(totalUsage) }
      },
      async look(prompt, { png, pdf }) {
        const content = [
          { type: 'text' as const, text: prompt },
          { type: 'image' as const, image: png, mediaType: 'image/png' },
          { type: 'file' as const, data: pdf, mediaType: 'application/pdf', filename: 'a.pdf' },
        ]
        const { text, totalUsage } = await agentOf().generate([{ role: 'user', content }])
        return { text, usage: usageOf(totalUsage) }
      },
      async leaveStream(prompt) {
        const leaving = new AbortController()
        const { textStream } = await agentOf().stream(prompt, { abortSignal: leaving.signal })
        for await (const _ of textStream) leaving.abort()
      },
    }
  },
}

function usageOf({
  inputTokens,
  outputTokens,
}: {
  inputTokens?: number | undefined
  outputTokens?: number | undefined
}): Spoken['usage'] {
  return { prompt: inputTokens ?? 0, completion: outputTokens ?? 0 }
}
