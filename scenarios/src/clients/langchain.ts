import { HumanMessage, type AIMessageChunk } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import {
  CITY_SCHEMA,
  type ClientAtWork,
  FORECAST,
  type CallOptions,
  type Spoken,
  type StockClient,
} from './stock-client.ts'

type Endpoint = Parameters<StockClient['at']>[0]
type Open = (options?: CallOptions) => ChatOpenAI | ChatAnthropic

// Only some per-call options reach the wire, and none when streaming; options of the client always do.
const headersOf = ({ idempotencyKey }: CallOptions) => ({
  ...(idempotencyKey && { defaultHeaders: { 'Idempotency-Key': idempotencyKey } }),
})

/** LangChain for JavaScript. */
export const langChain: StockClient[] = [
  ...[false, true].map((useResponsesApi) =>
    openLangChain(`ChatOpenAI${useResponsesApi ? ' with Responses' : ''}`, ({ baseUrl, key, model }, options) => {
      const configuration = { baseURL: baseUrl, ...headersOf(options) }
      return new ChatOpenAI({ model, apiKey: key, maxRetries: options.retries ?? 0, useResponsesApi, configuration })
    }),
  ),
  openLangChain('ChatAnthropic', ({ baseUrl, key, model }, options) => {
    const anthropicApiUrl = baseUrl.replace(/\/v1$/, '')
    const clientOptions = headersOf(options)
    return new ChatAnthropic({ model, apiKey: key, maxRetries: options.retries ?? 0, anthropicApiUrl, clientOptions })
  }),
]

function openLangChain(
  chat: string,
  open: (endpoint: Endpoint, options: CallOptions) => ReturnType<Open>,
): StockClient {
  return { name: `LangChain JS, ${chat}`, at: (endpoint) => at((options = {}) => open(endpoint, options)) }
}

function at(open: Open): ClientAtWork {
  return {
    async complete(prompt, options) {
      const answer = await open(options).invoke([new HumanMessage(prompt)])
      return { text: answer.text, usage: usageOf(answer) }
    },
    async stream(prompt, options) {
      let whole: AIMessageChunk | undefined
      let pieces = 0
      for await (const piece of await open(options).stream([new HumanMessage(prompt)])) {
        whole = whole ? whole.concat(piece) : piece
        pieces++
      }
      return { text: whole!.text, pieces, usage: usageOf(whole!) }
    },
    async useTool(prompt, forecast) {
      const lookUp = tool(({ city }: { city: string }) => JSON.stringify(forecast(city)), {
        name: FORECAST.name,
        description: FORECAST.description,
        schema: z.object({ city: z.string() }),
      })
      const chat = open().bindTools([lookUp])
      const question = new HumanMessage(prompt)
      const wish = await chat.invoke([question])
      const seen = await Promise.all((wish.tool_calls ?? []).map((call) => lookUp.invoke(call)))
      const answer = await chat.invoke([question, wish, ...seen])
      const [first, second] = [usageOf(wish), usageOf(answer)]
      return {
        text: answer.text,
        usage: { prompt: first.prompt + second.prompt, completion: first.completion + second.completion },
      }
    },
    async object(prompt) {
      const chat = open().withStructuredOutput(CITY_SCHEMA, { name: 'city', method: 'jsonSchema', includeRaw: true })
      const { raw, parsed } = await chat.invoke([new HumanMessage(prompt)])
      return { value: parsed, text: raw.text, usage: usageOf(raw) }
    },
    async look(prompt, { png, pdf }) {
      const contentBlocks = [
        { type: 'text' as const, text: prompt },
        { type: 'image' as const, mimeType: 'image/png', data: png },
        { type: 'file' as const, mimeType: 'application/pdf', data: pdf, metadata: { filename: 'a.pdf' } },
      ]
      const answer = await open().invoke([new HumanMessage({ contentBlocks })])
      return { text: answer.text, usage: usageOf(answer) }
    },
    async leaveStream(prompt) {
      const leaving = new AbortController()
      try {
        for await (const _ of await open().stream([new HumanMessage(prompt)], { signal: leaving.signal }))
          leaving.abort()
      } catch (error) {
        if (!leaving.signal.aborted) throw error
      }
    },
  }
}

interface Answer {
  usage_metadata?: { input_tokens: number; output_tokens: number } | undefined
  response_metadata?: Record<string, unknown>
}

function usageOf({ usage_metadata: usage, response_metadata: metadata }: Answer): Spoken['usage'] {
  const completion = usage?.output_tokens ?? 0
  // ChatAnthropic reads the prompt of a stream at its start, when it is not known yet, but also the cost at its end.
  const { cost } = (metadata?.['usage'] ?? {}) as { cost?: number }
  const prompt = usage?.input_tokens || (cost === undefined ? 0 : Math.round(cost * 1_000_000) - completion)
  return { prompt, completion }
}
