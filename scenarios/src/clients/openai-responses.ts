import OpenAI from 'openai'
import type {
  FunctionTool,
  ResponseInputItem,
  ResponseInputMessageContentList,
  ResponseUsage,
} from 'openai/resources/responses/responses'
import { CITY_SCHEMA, FORECAST, type CallOptions, type Spoken, type StockClient } from './stock-client.ts'

const tools: FunctionTool[] = [{ type: 'function', ...FORECAST, strict: true }]

/** The OpenAI client for Node on the Responses wire. */
export const openAiResponses: StockClient = {
  name: 'openai (Node), responses',
  at({ baseUrl, key, model }) {
    const { responses } = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })
    return {
      async complete(prompt, options) {
        const { output_text: text, usage } = await responses.create({ model, input: prompt }, requestOptions(options))
        return { text, usage: usageOf(usage) }
      },
      async stream(prompt, options) {
        const stream = responses.stream({ model, input: prompt }, requestOptions(options))
        let pieces = 0
        stream.on('response.output_text.delta', () => pieces++)
        const { output_text: text, usage } = await stream.finalResponse()
        return { text, pieces, usage: usageOf(usage) }
      },
      async useTool(prompt, forecast) {
        const input: ResponseInputItem[] = [{ role: 'user', content: prompt }]
        const first = await responses.create({ model, input, tools })
        input.push(...(first.output as ResponseInputItem[]))
        for (const item of first.output)
          if (item.type === 'function_call') {
            const { city } = JSON.parse(item.arguments) as { city: string }
            const output = JSON.stringify(forecast(city))
            input.push({ type: 'function_call_output', call_id: item.call_id, output })
          }
        const second = await responses.create({ model, input, tools })
        return { text: second.output_text, usage: sum(usageOf(first.usage), usageOf(second.usage)) }
      },
      async object(prompt) {
        const format = { type: 'json_schema' as const, name: 'city', schema: CITY_SCHEMA, strict: true }
        const { output_text: text, usage } = await responses.create({ model, input: prompt, text: { format } })
        return { value: JSON.parse(text) as unknown, text, usage: usageOf(usage) }
      },
      async look(prompt, { png, pdf }) {
        const content: ResponseInputMessageContentList = [
          { type: 'input_text', text: prompt },
          { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
          { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
        ]
        const { output_text: text, usage } = await responses.create({ model, input: [{ role: 'user', content }] })
        return { text, usage: usageOf(usage) }
      },
      async leaveStream(prompt) {
        const stream = await responses.create({ model, input: prompt, stream: true })
        for await (const _ of stream) break // leaving the loop aborts the request
      },
    }
  },
}

function requestOptions({ idempotencyKey, retries = 0 }: CallOptions = {}) {
  return { maxRetries: retries, ...(idempotencyKey && { headers: { 'Idempotency-Key': idempotencyKey } }) }
}

function usageOf(usage: ResponseUsage | undefined): Spoken['usage'] {
  return { prompt: usage?.input_tokens ?? 0, completion: usage?.output_tokens ?? 0 }
}

function sum(a: Spoken['usage'], b: Spoken['usage']): Spoken['usage'] {
  return { prompt: a.prompt + b.prompt, completion: a.completion + b.completion }
}
