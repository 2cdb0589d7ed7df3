import Anthropic from '@anthropic-ai/sdk'
import { CITY_SCHEMA, FORECAST, type CallOptions, type Spoken, type StockClient } from './stock-client.ts'

const { name, description, parameters } = FORECAST
const tools = [{ name, description, input_schema: parameters }]
const MAX_TOKENS = 1_000

/** The client of Anthropic for Node, whose base URL ends without `/v1`. */
export const anthropicNode: StockClient = {
  name: '@anthropic-ai/sdk (Node)',
  at({ baseUrl, key, model }) {
    const { messages } = new Anthropic({ baseURL: baseUrl.replace(/\/v1$/, ''), apiKey: key, maxRetries: 0 })
    const said = (prompt: string): Anthropic.MessageParam[] => [{ role: 'user', content: prompt }]
    const asked = (prompt: string) => ({ model, max_tokens: MAX_TOKENS, messages: said(prompt) })
    return {
      async complete(prompt, options) {
        return spokenOf(await messages.create(asked(prompt), requestOptions(options)))
      },
      async stream(prompt, options) {
        const stream = messages.stream(asked(prompt), requestOptions(options))
        let pieces = 0
        stream.on('text', () => pieces++)
        return { ...spokenOf(await stream.finalMessage()), pieces }
      },
      async useTool(prompt, forecast) {
        const history = said(prompt)
        const first = await messages.create({ model, max_tokens: MAX_TOKENS, messages: history, tools })
        const results = first.content.flatMap((block) =>
          block.type === 'tool_use'
            ? [
                {
                  type: 'tool_result' as const,
                  tool_use_id: block.id,
                  content: JSON.stringify(forecast((block.input as { city: string }).city)),
                },
              ]
            : [],
        )
        history.push({ role: 'assistant', content: first.content }, { role: 'user', content: results })
        const second = spokenOf(await messages.create({ model, max_tokens: MAX_TOKENS, messages: history, tools }))
        return { text: second.text, usage: sum(spokenOf(first).usage, second.usage) }
      },
      async object(prompt) {
        const format = { type: 'json_schema' as const, schema: CITY_SCHEMA }
        const spoken = spokenOf(await messages.create({ ...asked(prompt), output_config: { format } }))
        return { ...spoken, value: JSON.parse(spoken.text) as unknown }
      },
      async look(prompt, { png, pdf }) {
        const content: Anthropic.ContentBlockParam[] = [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf }, title: 'a.pdf' },
          { type: 'text', text: prompt },
        ]
        return spokenOf(await messages.create({ model, max_tokens: MAX_TOKENS, messages: [{ role: 'user', content }] }))
      },
      async leaveStream(prompt) {
        const stream = await messages.create({ ...asked(prompt), stream: true })
        for await (const _ of stream) break // leaving the loop aborts the request
      },
    }
  },
}

function requestOptions({ idempotencyKey, retries = 0 }: CallOptions = {}) {
  return { maxRetries: retries, ...(idempotencyKey && { headers: { 'Idempotency-Key': idempotencyKey } }) }
}

function spokenOf({ content, usage }: Anthropic.Message): Spoken {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)
  return { text, usage: { prompt: usage.input_tokens + cached, completion: usage.output_tokens } }
}

function sum(a: Spoken['usage'], b: Spoken['usage']): Spoken['usage'] {
  return { prompt: a.prompt + b.prompt, completion: a.completion + b.completion }
}
