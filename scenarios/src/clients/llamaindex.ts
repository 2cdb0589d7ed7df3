import type { ChatMessage, ToolCall, ToolCallLLMMessageOptions } from '@llamaindex/core/llms'
import { FunctionTool } from '@llamaindex/core/tools'
import { extractText } from '@llamaindex/core/utils'
import { OpenAI } from '@llamaindex/openai'
import { z } from 'zod'
import { FORECAST, type CallOptions, type Spoken, type StockClient } from './stock-client.ts'

type Message = ChatMessage<ToolCallLLMMessageOptions>

/** LlamaIndex for TypeScript. */
export const llamaIndex: StockClient = {
  name: 'LlamaIndex TS',
  at({ baseUrl, key, model }) {
    const open = ({ idempotencyKey, retries = 0 }: CallOptions = {}) =>
      new OpenAI({
        model,
        apiKey: key,
        baseURL: baseUrl,
        maxRetries: retries,
        ...(idempotencyKey && { additionalSessionOptions: { defaultHeaders: { 'Idempotency-Key': idempotencyKey } } }),
      })
    const user = (content: Message['content']): Message => ({ role: 'user', content })
    return {
      async complete(prompt, options) {
        const { message, raw } = await open(options).chat({ messages: [user(prompt)] })
        return { text: extractText(message.content), usage: usageOf(raw) }
      },
      async stream(prompt, options) {
        const said = { text: '', pieces: 0, usage: usageOf(null) }
        const additionalChatOptions = { stream_options: { include_usage: true } }
        const stream = await open(options).chat({ messages: [user(prompt)], stream: true, additionalChatOptions })
        for await (const { delta, raw } of stream) {
          said.text += delta
          said.pieces++
          if ((raw as Raw | undefined)?.usage) said.usage = usageOf(raw)
        }
        return said
      },
      async useTool(prompt, forecast) {
        const lookUp = FunctionTool.from(({ city }: { city: string }) => JSON.stringify(forecast(city)), {
          name: FORECAST.name,
          description: FORECAST.description,
          parameters: z.object({ city: z.string() }),
        })
        const messages = [user(prompt)]
        const first = await open().chat({ messages, tools: [lookUp] })
        messages.push(first.message)
        for (const { id, input } of (first.message.options as { toolCall: ToolCall[] }).toolCall) {
          const answered = await lookUp.call(JSON.parse(input as unknown as string) as { city: string })
          const result = answered as string
          const toolResult = { id, result, isError: false }
          messages.push({ role: 'user', content: result, options: { toolResult } })
        }
        const second = await open().chat({ messages, tools: [lookUp] })
        const [one, two] = [usageOf(first.raw), usageOf(second.raw)]
        return {
          text: extractText(second.message.content),
          usage: { prompt: one.prompt + two.prompt, completion: one.completion + two.completion },
        }
      },
      async object(prompt) {
        const { message, raw } = await open().chat({
          messages: [user(prompt)],
          responseFormat: z.object({ city: z.string(), population: z.number(), capital: z.boolean() }),
        })
        return { value: JSON.parse(extractText(message.content)) as unknown, text: '', usage: usageOf(raw) }
      },
      async look(prompt, { png, pdf }) {
        const { message, raw } = await open().chat({
          messages: [
            user([
              { type: 'text', text: prompt },
              { type: 'image', data: png, mimeType: 'image/png' },
              { type: 'file', data: pdf, mimeType: 'application/pdf' },
            ]),
          ],
        })
        return { text: extractText(message.content), usage: usageOf(raw) }
      },
      async leaveStream(prompt) {
        const stream = await open().chat({ messages: [user(prompt)], stream: true })
        for await (const _ of stream) break // leaving the loop aborts the request
      },
    }
  },
}

interface Raw {
  usage?: { prompt_tokens: number; completion_tokens: number }
}

function usageOf(raw: object | null): Spoken['usage'] {
  const { usage } = (raw ?? {}) as Raw
  return { prompt: usage?.prompt_tokens ?? 0, completion: usage?.completion_tokens ?? 0 }
}
