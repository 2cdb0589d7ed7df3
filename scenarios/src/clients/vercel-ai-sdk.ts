import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool, type LanguageModelUsage } from 'ai'
import { CITY_SCHEMA, FORECAST, type CallOptions, type Spoken, type StockClient } from './stock-client.ts'

/** The Vercel AI SDK with its OpenAI-compatible provider. */
export const vercelAiSdk: StockClient = {
  name: 'Vercel AI SDK',
  at({ baseUrl, key, model: id }) {
    const provider = createOpenAICompatible({
      name: 'gateway',
      baseURL: baseUrl,
      apiKey: key,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })
    const model = provider.chatModel(id)
    return {
      async complete(prompt, options) {
        const { text, usage } = await generateText({ model, prompt, ...requestOptions(options) })
        return { text, usage: usageOf(usage) }
      },
      async stream(prompt, options) {
        const failed = Promise.withResolvers<never>()
        const result = streamText({
          model,
          prompt,
          ...requestOptions(options),
          onError: ({ error }) => failed.reject(error),
        })
        const read = async () => {
          const said = { text: '', pieces: 0 }
          for await (const piece of result.textStream) {
            said.text += piece
            said.pieces++
          }
          return { ...said, usage: usageOf(await result.usage) }
        }
        const reading = read()
        reading.catch(() => {}) // `failed` has the reason
        return Promise.race([reading, failed.promise])
      },
      async useTool(prompt, forecast) {
        const { text, totalUsage } = await generateText({
          model,
          prompt,
          maxRetries: 0,
          stopWhen: stepCountIs(3),
          tools: {
            forecast: tool({
              description: FORECAST.description,
              inputSchema: jsonSchema<{ city: string }>(FORECAST.parameters),
              execute: ({ city }) => Promise.resolve(forecast(city)),
            }),
          },
        })
        return { text, usage: usageOf(totalUsage) }
      },
      async object(prompt) {
        const { output, text, usage } = await generateText({
          model,
          prompt,
          maxRetries: 0,
          output: Output.object({ schema: jsonSchema(CITY_SCHEMA) }),
        })
        return { value: output, text, usage: usageOf(usage) }
      },
      async leaveStream(prompt) {
        const leaving = new AbortController()
        const { textStream } = streamText({
          model,
          prompt,
          maxRetries: 0,
          abortSignal: leaving.signal,
          onError: () => {},
        })
        for await (const _ of textStream) leaving.abort()
      },
    }
  },
}

function requestOptions({ idempotencyKey, retries = 0 }: CallOptions = {}) {
  return { maxRetries: retries, ...(idempotencyKey && { headers: { 'Idempotency-Key': idempotencyKey } }) }
}

function usageOf({ inputTokens, outputTokens }: LanguageModelUsage): Spoken['usage'] {
  return { prompt: inputTokens ?? 0, completion: outputTokens ?? 0 }
}
