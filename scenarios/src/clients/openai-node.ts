import OpenAI from 'openai'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import { CITY_SCHEMA, FORECAST, type CallOptions, type Spoken, type StockClient } from './stock-client.ts'

const tools: ChatCompletionTool[] = [{ type: 'function', function: { ...FORECAST, strict: true } }]
const user = (content: string): ChatCompletionMessageParam => ({ role: 'user', content })

/** The OpenAI client for Node. */
export const openAiNode: StockClient = {
  name: 'openai (Node)',
  at({ baseUrl, key, model }) {
    const client = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })
    const { completions } = client.chat
    return {
      async complete(prompt, options) {
        const completion = await completions.create({ model, messages: [user(prompt)] }, requestOptions(options))
        return { text: completion.choices[0]!.message.content!, usage: usageOf(completion.usage) }
      },
      async stream(prompt, options) {
        const stream = await completions.create(
          { model, messages: [user(prompt)], stream: true, stream_options: { include_usage: true } },
          requestOptions(options),
        )
        const said = { text: '', pieces: 0, usage: usageOf(undefined) }
        for await (const { choices, usage } of stream) {
          said.text += choices[0]?.delta.content ?? ''
          said.pieces++
          if (usage) said.usage = usageOf(usage)
        }
        return said
      },
      async useTool(prompt, tool) {
        const runner = completions.runTools({
          model,
          messages: [user(prompt)],
          tools: [
            {
              type: 'function',
              function: {
                ...FORECAST,
                strict: true,
                parse: (text: string) => JSON.parse(text) as { city: string },
                function: ({ city }: { city: string }) => tool(city),
              },
            },
          ],
        })
        const text = await runner.finalContent()
        return { text: text!, usage: usageOf(await runner.totalUsage()) }
      },
      async object(prompt) {
        const json_schema = { name: 'city', schema: CITY_SCHEMA, strict: true }
        const messages = [user(prompt)]
        const parsed = await completions.parse({
          model,
          messages,
          response_format: { type: 'json_schema', json_schema },
        })
        const { message } = parsed.choices[0]!
        // The parsed message is sent back unchanged, with the fields that the client added.
        messages.push(message, user('And now in words.'))
        const again = await completions.create({ model, messages, tools, tool_choice: 'none' })
        return {
          text: message.content!,
          value: message.parsed,
          usage: sum(usageOf(parsed.usage), usageOf(again.usage)),
        }
      },
      async look(prompt, { png, pdf }) {
        const content = [
          { type: 'text' as const, text: prompt },
          { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${png}` } },
          { type: 'file' as const, file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
        ]
        const { choices, usage } = await completions.create({ model, messages: [{ role: 'user', content }] })
        return { text: choices[0]!.message.content!, usage: usageOf(usage) }
      },
      async leaveStream(prompt) {
        const stream = await completions.create({ model, messages: [user(prompt)], stream: true })
        for await (const _ of stream) break // leaving the loop aborts the request
      },
    }
  },
}

function requestOptions({ idempotencyKey, retries = 0 }: CallOptions = {}) {
  return { maxRetries: retries, ...(idempotencyKey && { headers: { 'Idempotency-Key': idempotencyKey } }) }
}

function usageOf(usage: OpenAI.CompletionUsage | undefined): Spoken['usage'] {
  return { prompt: usage?.prompt_tokens ?? 0, completion: usage?.completion_tokens ?? 0 }
}

function sum(a: Spoken['usage'], b: Spoken['usage']): Spoken['usage'] {
  return { prompt: a.prompt + b.prompt, completion: a.completion + b.completion }
}
