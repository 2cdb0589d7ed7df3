import { type ChatRequest, readChatRequest, type reasoningDetail } from '../../chat-request.ts'
import { invalidField, invalidIssue, READABLE, unknownField } from '../../field-problem.ts'
import { Refusal, refuse } from '../../refusal.ts'
import { fieldOf, listOf, renamed, detailOf } from '../fields.ts'
import type { CutData } from '../wire.ts'
import {
  type InputItem,
  type InputPart,
  type ReasoningItem,
  responsesBody,
  type ResponsesBody,
  flatNameOf,
  type FlatTool,
  flatTools,
} from './responses-body.ts'
import type { z } from 'zod'

// Reads a request of the Responses wire as a chat request.
//   I1  Items between two messages of a user or a tool are one message of the assistant: its reasoning, text and calls.
//   I2  A custom tool is a function with one text, `input`. Tools in a namespace have it in front of their names.
//   I3  A refusal names the field of this wire.
//   I4  Reasoning without `encrypted_content` is that of a provider that encrypts none. Some refuse tool results without it.
//   I5  Images and files in the outputs of tools are a message of the user after the last of these outputs, because a
//       message of a tool has text alone.
//   I6  Models that do not list `parallel_tool_calls` ignore it: clients send it to all.
//   I7  An answer may be empty, or have no text.

/** @throws Refusal `invalid_request` with the field as `param` */
export function readResponses(value: unknown, cut?: CutData): { request: ChatRequest; body: ResponsesBody } {
  const body = parseBody(value)
  const { messages, origins } = messagesOf(body)
  try {
    return { request: readChatRequest(chatBodyOf(body, messages), cut, ['parallel_tool_calls']), body } // I6
  } catch (error) {
    const tools = flatTools(body).map(({ field }) => field)
    throw error instanceof Refusal ? renamed(error, (field) => nameOfField(field, origins, tools)) : error // I3
  }
}

const FIELDS = new Set(Object.keys(responsesBody.shape))

function parseBody(value: unknown): ResponsesBody {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('invalid_request', {
      reason: 'The body is not a JSON object.',
      resolution: 'Send one JSON object with model and input.',
    })
  const given = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
  for (const [field, cure] of Object.entries(STORED)) if (field in given) throw storesNothing(field, cure)
  for (const field of Object.keys(given)) if (!FIELDS.has(field)) throw unknownField(field)
  if (Array.isArray(given['input'])) given['input'] = given['input'].map(readableItem)
  for (const [n, tool] of listOf(given, 'tools').entries()) refuseHostedTool(tool, `tools.${n}`)
  refuseHostedTool(given['tool_choice'], 'tool_choice')
  const parsed = responsesBody.safeParse(given, READABLE)
  if (!parsed.success) throw invalidIssue(parsed.error.issues[0]!)
  return parsed.data
}

const SEND_ALL = 'leave it out, and send the items of the conversation in input'
/** Fields that name what another service stores, with the cure. */
const STORED: Record<string, string> = {
  previous_response_id: SEND_ALL,
  conversation: SEND_ALL,
  prompt: 'leave it out, and send its text in instructions',
}

function storesNothing(field: string, cure: string): Refusal {
  return invalidField(field, 'names something stored, and nothing is stored here', cure)
}

function readableItem(item: unknown, n: number): unknown {
  const type = fieldOf(item, 'type')
  if (type === 'item_reference')
    throw storesNothing(`input.${n}`, 'send the item itself (with store: false, clients do so by themselves)')
  return type === undefined && fieldOf(item, 'role') !== undefined ? { ...(item as object), type: 'message' } : item
}

const OURS = new Set<unknown>(['function', 'custom', 'namespace', 'allowed_tools', undefined])

function refuseHostedTool(tool: unknown, field: string): void {
  const type = fieldOf(tool, 'type')
  if (!OURS.has(type))
    throw invalidField(
      `${field}.type`,
      `is ${JSON.stringify(type)}, a tool that runs at OpenAI`,
      'leave it out, or offer a tool of type function or custom that the client runs',
    )
}

interface Conversation {
  messages: ChatMessage[]
  origins: Origin[]
}

/** The field that a message comes from, or those of its parts. */
type Origin = string | string[]

type Content = string | object[]
interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: Content | null
  tool_call_id?: string
  tool_calls?: object[]
  reasoning_content?: string
  reasoning_details?: z.infer<typeof reasoningDetail>[]
}

function messagesOf({ instructions, input }: ResponsesBody): Conversation {
  const messages: ChatMessage[] = []
  const origins: Origin[] = []
  const add = (message: ChatMessage, origin: Origin) => {
    messages.push(message)
    origins.push(origin)
    return message
  }
  if (instructions !== undefined) add({ role: 'system', content: instructions }, 'instructions')
  if (typeof input === 'string') add({ role: 'user', content: input }, 'input')
  else {
    let attached: Attached[] = []
    for (const [n, item] of input.entries()) {
      const field = `input.${n}`
      const last = messages.at(-1)
      const answer = () => (last?.role === 'assistant' ? last : add({ role: 'assistant', content: null }, field)) // I1
      addItem(item, field, (message) => add(message, field), answer)
      attached.push(...attachedTo(item, field))
      if (attached.length === 0 || isOutput(input[n + 1])) continue
      const [parts, fields] = [attached.map(({ part }) => part), attached.map((one) => one.field)]
      add({ role: 'user', content: parts }, fields) // I5
      attached = []
    }
  }
  return { messages, origins }
}

function addItem(item: InputItem, field: string, add: (message: ChatMessage) => void, answer: () => ChatMessage): void {
  switch (item.type) {
    case 'message':
      if (item.role === 'assistant')
        return says(answer(), item.content.length === 0 ? '' : contentOf(item.content, field)) // I7
      return add({ role: item.role === 'user' ? 'user' : 'system', content: contentOf(item.content, field) })
    case 'reasoning':
      return thinks(item, answer)
    case 'function_call':
      return calls(answer(), item.call_id, flatNameOf(item.name, item.namespace), item.arguments)
    case 'custom_tool_call':
      return calls(answer(), item.call_id, flatNameOf(item.name, item.namespace), JSON.stringify({ input: item.input })) // I2
    case 'function_call_output':
    case 'custom_tool_call_output':
      return add({ role: 'tool', content: textOf(item.output), tool_call_id: item.call_id })
  }
}

function thinks({ summary = [], encrypted_content: opaque }: ReasoningItem, answer: () => ChatMessage): void {
  const detail = detailOf(opaque)
  if (detail !== null) (answer().reasoning_details ??= []).push(detail)
  const words = opaque ? '' : summary.map(({ text }) => text).join('\n\n') // I4
  if (words === '') return
  const message = answer()
  message.reasoning_content = (message.reasoning_content ?? '') + words
}

function says(message: ChatMessage, content: Content): void {
  if (!message.content) message.content = content
  else if (content !== '') message.content = [...partsOf(message.content), ...partsOf(content)]
}

function partsOf(content: Content): object[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function calls(message: ChatMessage, id: string, name: string, json: string): void {
  ;(message.tool_calls ??= []).push({ id, type: 'function', function: { name, arguments: json } })
}

function contentOf(content: string | InputPart[], field: string): Content {
  if (typeof content === 'string') return content
  if (content.length === 0) throw invalidField(`${field}.content`, 'is empty', 'send at least one part, or a string')
  return content.map(partOf)
}

function partOf(part: InputPart): object {
  switch (part.type) {
    case 'input_image': {
      const detail = part.detail === 'original' ? 'high' : part.detail
      return { type: 'image_url', image_url: { url: part.image_url, ...(detail && { detail }) } }
    }
    case 'input_file':
      return { type: 'file', file: { file_data: part.file_data, ...(part.filename && { filename: part.filename }) } }
    case 'refusal':
      return part
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part.text }
  }
}

type OutputItem = Extract<InputItem, { output: unknown }>

function isOutput(item: InputItem | undefined): item is OutputItem {
  return item?.type === 'function_call_output' || item?.type === 'custom_tool_call_output'
}

function textOf(output: OutputItem['output']): string {
  return typeof output === 'string' ? output : output.map((part) => ('text' in part ? part.text : '')).join('')
}

/** I5: a part of an output, and its field. */
interface Attached {
  part: object
  field: string
}

function attachedTo(item: InputItem, field: string): Attached[] {
  if (!isOutput(item) || typeof item.output === 'string') return []
  return item.output.flatMap((part, n) =>
    'text' in part ? [] : [{ part: partOf(part), field: `${field}.output.${n}` }],
  )
}

function chatBodyOf(body: ResponsesBody, messages: ChatMessage[]): object {
  const { reasoning, text, include, top_logprobs: topLogprobs } = body
  const { tools, toolChoice } = toolsOf(body)
  const withLogprobs = topLogprobs !== undefined || include?.includes('message.output_text.logprobs')
  return {
    model: body.model,
    messages,
    stream: body.stream,
    max_tokens: body.max_output_tokens,
    temperature: body.temperature,
    top_p: body.top_p,
    ...(withLogprobs && { logprobs: true, top_logprobs: topLogprobs }),
    tools,
    tool_choice: toolChoice,
    parallel_tool_calls: tools === undefined ? undefined : body.parallel_tool_calls,
    reasoning_effort: reasoning?.effort ?? undefined,
    verbosity: text?.verbosity ?? undefined,
    response_format: formatOf(text?.format),
    project_id: body.project_id,
  }
}

function formatOf(format: NonNullable<ResponsesBody['text']>['format']): object | undefined {
  if (format?.type !== 'json_schema') return format ?? undefined
  const { type, ...schema } = format
  return { type, json_schema: withoutNulls(schema) }
}

function withoutNulls(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
}

function toolsOf(body: ResponsesBody): { tools?: object[]; toolChoice?: unknown } {
  const { tool_choice: choice } = body
  const tools = flatTools(body)
  if (tools.length === 0) return { toolChoice: choice }
  if (typeof choice === 'object' && choice.type === 'allowed_tools') {
    const allowed = new Set(choice.tools.map(({ name }) => name))
    return { tools: tools.filter(({ tool }) => allowed.has(tool.name)).map(functionOf), toolChoice: choice.mode }
  }
  const toolChoice =
    typeof choice === 'object' && 'name' in choice ? { type: 'function', function: { name: choice.name } } : choice
  return { tools: tools.map(functionOf), toolChoice }
}

function functionOf({ flatName: name, tool }: FlatTool): object {
  if (tool.type === 'function') {
    const { description, parameters, strict } = tool
    return { type: 'function', function: { name, ...withoutNulls({ description, parameters, strict }) } }
  }
  const grammar = tool.format?.type === 'grammar' ? `The input follows this grammar:\n${tool.format.definition}` : ''
  const description = [tool.description, grammar].filter(Boolean).join('\n\n')
  return { type: 'function', function: { name, ...(description && { description }), parameters: ONE_TEXT } }
}

/** I2 */
const ONE_TEXT = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

const NAMES = new Map([
  ['messages', 'input'],
  ['max_tokens', 'max_output_tokens'],
  ['response_format', 'text.format'],
  ['reasoning_effort', 'reasoning.effort'],
  ['verbosity', 'text.verbosity'],
  ['logprobs', 'include'],
])

/**
 * I3
 * @param origins of each message, if known
 * @param tools the field of each tool, likewise
 */
export function nameOfField(field: string, origins: readonly Origin[] = [], tools: readonly string[] = []): string {
  const [first = '', at, ...rest] = field.split('.')
  if (first === 'tools' && rest[0] === 'function')
    return [tools[Number(at)] ?? `tools.${at}`, ...rest.slice(1)].join('.')
  const origin = first === 'messages' && at !== undefined ? origins[Number(at)] : undefined
  if (origin === undefined) return NAMES.get(first) ?? field
  const inside =
    rest[2] === 'image_url' ? rest.slice(0, 3) : rest[2] === 'file' ? [...rest.slice(0, 2), ...rest.slice(3)] : rest
  if (typeof origin !== 'string') return [origin[Number(rest[1] ?? 0)], ...inside.slice(2)].join('.')
  return origin === 'instructions' || rest[0] === 'tool_calls' ? origin : [origin, ...inside].join('.')
}

/** Yields the URLs at the places where a body can have images and files. */
export function* attachmentUrlsOf(body: unknown): Generator<string> {
  for (const item of listOf(body, 'input'))
    for (const part of [...listOf(item, 'content'), ...listOf(item, 'output')]) {
      const type = fieldOf(part, 'type')
      const url =
        type === 'input_image' ? fieldOf(part, 'image_url') : type === 'input_file' && fieldOf(part, 'file_data')
      if (typeof url === 'string') yield url
    }
}
