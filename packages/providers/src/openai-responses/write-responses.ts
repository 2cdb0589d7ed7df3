import type { Forwarded } from '@gateway/api/chat-request'
import { callIdOf } from '../chat-port.ts'
import { type ReasoningSeal, openedItem, type ReasoningItem } from './reasoning-item.ts'
import { nameOfChoice, refuseFields } from '../unlike-chat.ts'
import { NotInWireFormat, type WireCall } from '../wire-format.ts'

export interface ResponsesRules {
  /** Whether the model's reasoning is requested in encrypted form, to be sent back. */
  encryptedReasoning: boolean
  /** Smallest output cap that the provider takes. */
  leastCap: number
}

/** Writes a chat request in the Responses format. Refuses what the format lacks (`NotInWireFormat`). */
export function writeResponses(
  { model, forwarded, outputCap, stream }: WireCall,
  seal: ReasoningSeal,
  { encryptedReasoning, leastCap }: ResponsesRules,
): string {
  const asked = JSON.parse(forwarded) as Forwarded
  refuseFields(asked, lacking)
  if (outputCap < leastCap)
    throw new NotInWireFormat('max_tokens', `is below ${leastCap}, the least that this model takes`, `send ${leastCap}`)
  const include = [
    ...(encryptedReasoning ? ['reasoning.encrypted_content'] : []),
    ...(asked['logprobs'] === true ? ['message.output_text.logprobs'] : []),
  ]
  return JSON.stringify({
    model,
    max_output_tokens: outputCap,
    ...(stream && { stream }),
    store: false,
    ...(include.length > 0 && { include }),
    input: asked.messages.flatMap((message, n) => itemsOf(message, n, seal)),
    ...toolsOf(asked),
    ...textOf(asked),
    ...reasoningOf(asked),
    ...kept(asked, ['temperature', 'top_p', 'top_logprobs', 'parallel_tool_calls']),
  })
}

const lacking = [
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'top_k',
  'top_a',
  'min_p',
  'repetition_penalty',
]

function kept(asked: Forwarded, fields: readonly string[]): object {
  return Object.fromEntries(fields.flatMap((field) => (asked[field] === undefined ? [] : [[field, asked[field]]])))
}

type ChatMessage = Forwarded['messages'][number]
type Assistant = Extract<ChatMessage, { role: 'assistant' }>
type Content = ChatMessage['content']
type Item = { type: string; [field: string]: unknown } | ReasoningItem

function itemsOf(message: ChatMessage, n: number, seal: ReasoningSeal): Item[] {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: fit(message.tool_call_id), output: inputOf(message.content) }]
  if (message.name !== undefined)
    throw new NotInWireFormat(`messages.${n}.name`, 'names a speaker, and this model knows no names')
  if (message.role === 'assistant') return answerOf(message, seal)
  return [{ type: 'message', role: message.role, content: inputOf(message.content) }]
}

function inputOf(content: Content): string | object[] {
  if (typeof content === 'string') return content
  return (content ?? []).map((part) => {
    if (part.type === 'image_url')
      return { type: 'input_image', image_url: part.image_url.url, detail: part.image_url.detail ?? 'auto' }
    if (part.type === 'file')
      return { type: 'input_file', filename: part.file.filename, file_data: part.file.file_data }
    return { type: 'input_text', text: part.type === 'text' ? part.text : part.refusal }
  })
}

/**
 * Items of an earlier response: its reasoning before the call it led to, and in front if it led to text. A reasoning
 * item must have an item after it, so without text and calls it is dropped.
 */
function answerOf(message: Assistant, seal: ReasoningSeal): Item[] {
  const content = outputOf(message)
  const calls = message.tool_calls ?? []
  if (content.length === 0 && calls.length === 0) return []
  const inFront: Item[] = []
  const beforeCall = new Map<string, Item[]>(calls.map(({ id }) => [id, []]))
  for (const detail of message.reasoning_details ?? []) {
    const item = detail.type === 'reasoning.encrypted' ? openedItem(detail, seal) : null
    if (item !== null) (beforeCall.get(('id' in detail && detail.id) || '') ?? inFront).push(item)
  }
  return [
    ...inFront,
    ...(content.length > 0 ? [{ type: 'message', role: 'assistant', content }] : []),
    ...calls.flatMap(({ id, function: { name, arguments: json } }): Item[] => [
      ...(beforeCall.get(id) ?? []),
      { type: 'function_call', call_id: fit(id), name, arguments: json },
    ]),
  ]
}

function outputOf({ content, refusal }: Assistant): object[] {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? [])
  return [...parts, ...(refusal ? [{ type: 'refusal' as const, refusal }] : [])].flatMap((part): object[] => {
    if (part.type === 'refusal') return [{ type: 'refusal', refusal: part.refusal }]
    return part.text === '' ? [] : [{ type: 'output_text', text: part.text, annotations: [] }]
  })
}

/** Replaces an ID of another provider that is longer than this format permits. */
function fit(id: string): string {
  return id.length <= 64 ? id : callIdOf(id)
}

interface ChatTool {
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean | null }
}

/** Writes the tools and the tool choice. Throws `NotInWireFormat` for a choice of an unknown form. */
function toolsOf(asked: Forwarded): object {
  const tools = asked['tools'] as ChatTool[] | undefined
  const choice = asked['tool_choice']
  const plain = choice === undefined || choice === 'auto' || choice === 'none' || choice === 'required'
  return {
    ...(tools && { tools: tools.map(toolOf) }),
    ...(choice !== undefined && { tool_choice: plain ? choice : { type: 'function', name: nameOfChoice(choice) } }),
  }
}

/** In this format, `strict` is the default. */
function toolOf({ function: { name, description, parameters, strict } }: ChatTool): object {
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    strict: strict ?? false,
  }
}

interface ResponseFormat {
  type: 'text' | 'json_object' | 'json_schema'
  json_schema?: { name?: string; description?: string; schema?: object; strict?: boolean | null }
}

function textOf(asked: Forwarded): object {
  const format = asked['response_format'] as ResponseFormat | undefined
  const verbosity = asked['verbosity']
  if (format === undefined && verbosity === undefined) return {}
  return { text: { ...(format && { format: formatOf(format) }), ...(verbosity !== undefined && { verbosity }) } }
}

function formatOf({ type, json_schema: given }: ResponseFormat): object {
  if (type !== 'json_schema') return { type }
  const { name = 'response', description, schema = { type: 'object' }, strict } = given ?? {}
  return { type, name, ...(description !== undefined && { description }), schema, strict: strict ?? false }
}

function reasoningOf({ reasoning_effort: effort }: Forwarded): object {
  if (effort === undefined) return {}
  return { reasoning: { effort, ...(effort !== 'none' && { summary: 'auto' }) } }
}
