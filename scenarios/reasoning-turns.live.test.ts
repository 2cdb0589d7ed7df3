import OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { describe, expect } from 'vitest'
import { severalProvidersTest } from './src/several-providers.ts'

// Two turns with a tool on each wire of callers, at each kind of provider that signs or encrypts its reasoning. The simulated provider
// refuses a second turn whose reasoning is missing or altered.

const schema = { type: 'object', properties: { city: { type: 'string', enum: ['Bern', 'Basel'] } } }

/** A caller's place: base address, key and model. */
interface Place {
  url: string
  secret: string
  model: string
}
/** Holds both turns, and returns what the caller has seen of the first and the text of the second. */
type Turns = (place: Place, stream: boolean) => Promise<{ seen: unknown; text: string | null }>

const chat: Turns = async ({ url, secret, model }, stream) => {
  const { chat: wire } = new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 })
  const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: schema } }]
  const turn = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
    const ask = { model, tools, messages, reasoning_effort: 'low' as const }
    if (!stream) return (await wire.completions.create(ask)).choices[0]!.message
    const whole = { role: 'assistant', content: '', reasoning_content: '', reasoning_details: [] as unknown[] }
    const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
    for await (const { choices } of await wire.completions.create({ ...ask, stream: true })) {
      const delta = choices[0]?.delta
      const thought = (delta ?? {}) as { reasoning_content?: string; reasoning_details?: unknown[] }
      whole.content += delta?.content ?? ''
      whole.reasoning_content += thought.reasoning_content ?? ''
      whole.reasoning_details.push(...(thought.reasoning_details ?? []))
      for (const { index, id, function: called } of delta?.tool_calls ?? []) {
        calls[index] ??= { id: id!, type: 'function', function: { name: called!.name!, arguments: '' } }
        calls[index].function.arguments += called?.arguments ?? ''
      }
    }
    return { ...whole, ...(calls.length > 0 && { tool_calls: calls }) } as unknown as OpenAI.ChatCompletionMessage
  }
  const asked = { role: 'user' as const, content: 'Where?' }
  const seen = await turn([asked])
  expect(seen).toMatchObject({ reasoning_content: expect.stringMatching(/\w/) as string })
  const results = seen.tool_calls!.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'found' }))
  return { seen, text: (await turn([asked, seen, ...results])).content }
}

const responses: Turns = async ({ url, secret, model }, stream) => {
  const { responses: wire } = new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 })
  const tools = [{ type: 'function' as const, name: 'look_up', parameters: schema, strict: false }]
  const turn = (input: ResponseInput) => {
    const ask = { model, tools, input, store: false, reasoning: { effort: 'low' as const } }
    return stream ? wire.stream(ask).finalResponse() : wire.create(ask)
  }
  const asked = { role: 'user' as const, content: 'Where?' }
  const { output } = await turn([asked])
  const results = output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'found' }]
      : [],
  )
  return { seen: output, text: (await turn([asked, ...(output as ResponseInput), ...results])).output_text }
}

interface Block {
  type: string
  id?: string
  input?: unknown
  text?: string
  thinking?: string
  signature?: string
  /** Of the input, as it has arrived. */
  json?: string
}

const messages: Turns = async ({ url, secret, model }, stream) => {
  const tools = [{ name: 'look_up', input_schema: schema }]
  const turn = async (said: object[]) => {
    const ask = { model, max_tokens: 2_000, messages: said, tools, thinking: { type: 'adaptive' }, stream }
    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      body: JSON.stringify(ask),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return stream ? blocksOf(text) : (JSON.parse(text) as { content: Block[] }).content
  }
  const asked = { role: 'user', content: 'Where?' }
  const seen = await turn([asked])
  const results = seen.flatMap(({ type, id }) =>
    type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id }] : [],
  )
  const last = await turn([asked, { role: 'assistant', content: seen }, { role: 'user', content: results }])
  return { seen, text: last.map((block) => block.text ?? '').join('') }
}

/** Puts the blocks of a stream together, as a client does. */
function blocksOf(stream: string): Block[] {
  const blocks: Block[] = []
  for (const [, json] of stream.matchAll(/^data: (.*)$/gm)) {
    const { type, index, content_block: block, delta } = JSON.parse(json!)
    if (type === 'content_block_start') blocks[index] = block
    if (type !== 'content_block_delta') continue
    const grown = blocks[index]!
    grown.text = (grown.text ?? '') + (delta.text ?? '')
    grown.thinking = (grown.thinking ?? '') + (delta.thinking ?? '')
    grown.signature = (grown.signature ?? '') + (delta.signature ?? '')
    grown.json = (grown.json ?? '') + (delta.partial_json ?? '')
  }
  return blocks.map(({ json, ...block }) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(json || '{}') } : block,
  )
}

describe.each([
  ['chat completions', chat],
  ['Responses', responses],
  ['Messages', messages],
] as const)('two turns with a tool on the wire of %s', (_, turns) => {
  severalProvidersTest.for([
    ['responses', 'first', false],
    ['responses', 'first', true],
    ['messages', 'second', false],
    ['messages', 'second', true],
  ] as const)(
    'keep the reasoning of a provider that speaks %s (at %s, streamed: %s)',
    async ([kind, at, stream], { tenantOf, stack, servers }) => {
      const { key, model } = await tenantOf([kind], 'tapir-think')
      const { seen, text } = await turns({ url: stack.gateways[0]!.url, secret: key.secret, model }, stream)
      expect(text).toMatch(/\w/)
      expect(JSON.stringify(seen)).not.toMatch(/sim_|rs_sim/)
      const [first, second] = (await servers[at].control.calls()).map(({ body }) => JSON.parse(body!))
      if (kind === 'responses') {
        const items = (second.input as { type: string; encrypted_content?: string }[]).map((item) => item.type)
        expect(items).toEqual(['message', 'reasoning', 'function_call', 'function_call_output'])
        expect(second.include).toEqual(['reasoning.encrypted_content'])
      } else {
        const [thought] = second.messages[1].content
        expect(thought).toMatchObject({
          type: 'thinking',
          signature: expect.stringMatching(/^sim_signature/) as string,
        })
        expect(second.thinking).toEqual(first.thinking)
      }
    },
  )
})
