import { HumanMessage, type AIMessage, type AIMessageChunk } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { CITY_SCHEMA, FORECAST, type CallOptions, type Spoken, type StockClient } from './stock-client.ts'

/** LangChain for JavaScript. */
export const langChain: StockClient = {
  name: 'LangChain JS',
  at({ baseUrl, key, model }) {
    // Only some per-call options reach the wire, and none when streaming; options of the client always do.
    const open = ({ retries = 0, idempotencyKey }: CallOptions = {}) =>
      new ChatOpenAI({
        model,
        apiKey: key,
        maxRetries: retries,
        configuration: {
          baseURL: baseUrl,
          ...(idempotencyKey && { defaultHeaders: { 'Idempotency-Key': idempotencyKey } }),
        },
      })
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
        return { value: parsed, text: raw.text, usage: usageOf(raw as AIMessage) }
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
  },
}

function usageOf({
  usage_metadata: usage,
}: {
  usage_metadata?: { input_tokens: number; output_tokens: number } | undefined
}): Spoken['usage'] {
  return { prompt: usage?.input_tokens ?? 0, completion: usage?.output_tokens ?? 0 }
}
