import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import {
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  Output,
  stepCountIs,
  streamText,
  tool,
} from 'ai'
import {
  CITY_SCHEMA,
  type ClientAtWork,
  FORECAST,
  type CallOptions,
  type Spoken,
  type StockClient,
} from './stock-client.ts'

type Endpoint = Parameters<StockClient['at']>[0]

const settingsOf = ({ baseUrl, key }: Endpoint) => ({ baseURL: baseUrl, apiKey: key })

/** The Vercel AI SDK with its providers. The default of `openai` is the Responses wire. */
export const vercelAiSdk: StockClient[] = [
  openVercel('openai-compatible', (endpoint) =>
    createOpenAICompatible({
      name: 'gateway',
      ...settingsOf(endpoint),
      includeUsage: true,
      supportsStructuredOutputs: true,
    }).chatModel(endpoint.model),
  ),
  openVercel('openai', (endpoint) => createOpenAI(settingsOf(endpoint))(endpoint.model)),
  openVercel('openai.chat', (endpoint) => createOpenAI(settingsOf(endpoint)).chat(endpoint.model)),
  openVercel('anthropic', (endpoint) => createAnthropic(settingsOf(endpoint))(endpoint.model)),
  openVercel('openrouter', (endpoint) => createOpenRouter(settingsOf(endpoint))(endpoint.model)),
]

function openVercel(provider: string, modelOf: (endpoint: Endpoint) => LanguageModel): StockClient {
  return { name: `Vercel AI SDK, ${provider}`, at: (endpoint) => at(modelOf(endpoint)) }
}

function at(model: LanguageModel): ClientAtWork {
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
    async look(prompt, { png, pdf }) {
      const content = [
        { type: 'text' as const, text: prompt },
        { type: 'file' as const, data: png, mediaType: 'image/png' },
        { type: 'file' as const, data: pdf, mediaType: 'application/pdf', filename: 'a.pdf' },
      ]
      const { text, usage } = await generateText({ model, messages: [{ role: 'user', content }], maxRetries: 0 })
      return { text, usage: usageOf(usage) }
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
}

function requestOptions({ idempotencyKey, retries = 0 }: CallOptions = {}) {
  return { maxRetries: retries, ...(idempotencyKey && { headers: { 'Idempotency-Key': idempotencyKey } }) }
}

function usageOf({ inputTokens, outputTokens }: LanguageModelUsage): Spoken['usage'] {
  return { prompt: inputTokens ?? 0, completion: outputTokens ?? 0 }
}
