import type { ReasoningDetail } from '../../chat-answer.ts'
import { type CacheControl, type ChatRequest, readChatRequest } from '../../chat-request.ts'
import { invalidField, invalidIssue, READABLE, unknownField } from '../../field-problem.ts'
import { chatLimits } from '../../limits.ts'
import { Refusal, refuse } from '../../refusal.ts'
import { fieldOf, listOf, renamed, detailOf } from '../fields.ts'
import type { CutData } from '../wire.ts'
import {
  type Block,
  countTokensBody,
  messagesBody,
  type MessagesBody,
  type ResultPart,
  type Tool,
} from './messages-body.ts'

// Reads a request of the Messages wire as a chat request.
//   M1  The results of tools in a message of the user are separate messages before the rest of it. Their images and
//       files follow there, because such a message has text alone.
//   M2  Thinking and effort are one setting, which models that do not reason ignore: clients send them to all. The same goes for
//       `disable_parallel_tool_use`.
//   M3  A `max_tokens` above the bound of a call is the default of the model: the wire requires one, so clients send the
//       largest that they know.
//   M4  A refusal names the field of this wire.
//   M5  Thinking without a signature is the reasoning of a provider that signs none. Some refuse tool results without it.

/** @throws Refusal `invalid_request` with the field as `param` */
export function readMessages(value: unknown, cut?: CutData): ChatRequest {
  return readAs(messagesBody, value, cut)
}

/** The same for a request whose tokens are only counted. */
export function readCountedMessages(value: unknown, cut?: CutData): ChatRequest {
  return readAs(countTokensBody, value, cut)
}

function readAs(shape: typeof messagesBody | typeof countTokensBody, value: unknown, cut?: CutData): ChatRequest {
  const body = parseBody(shape, value)
  const { messages, origins } = messagesOf(body)
  const dataUrls = new Map([...sourcesOf(value)].flatMap((source) => cutUrlOf(source, cut)))
  try {
    return readChatRequest(chatBodyOf(body, messages), dataUrls, OPTIONAL) // M2
  } catch (error) {
    throw error instanceof Refusal ? renamed(error, (field) => nameOfField(field, origins)) : error // M4
  }
}

function parseBody(shape: typeof messagesBody | typeof countTokensBody, value: unknown): MessagesBody {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('invalid_request', {
      reason: 'The body is not a JSON object.',
      resolution: 'Send one JSON object with model, max_tokens and messages.',
    })
  const given = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
  const fields: object = shape.shape
  for (const field of Object.keys(given))
    if (!Object.hasOwn(fields, field))
      throw Object.hasOwn(MEANT, field)
        ? invalidField(field, 'is not a field of this wire', `send ${MEANT[field]} instead`)
        : unknownField(field)
  for (const [n, tool] of listOf(given, 'tools').entries()) refuseHostedTool(tool, n)
  const parsed = shape.safeParse(given, READABLE)
  if (!parsed.success) throw invalidIssue(parsed.error.issues[0]!)
  return parsed.data
}

/** What a field of another wire or an earlier version is called here. */
const MEANT: Record<string, string> = {
  max_completion_tokens: 'max_tokens',
  output_format: 'output_config.format',
  reasoning_effort: 'thinking',
  response_format: 'output_config.format',
  stop: 'stop_sequences',
}

function refuseHostedTool(tool: unknown, n: number): void {
  const type = fieldOf(tool, 'type')
  if (type === undefined || type === null || type === 'custom') return
  throw invalidField(
    `tools.${n}.type`,
    `is ${JSON.stringify(type)}, a tool that Anthropic defines`,
    'leave it out, or offer a tool with an input_schema that the client runs',
  )
}

/** M2 */
const OPTIONAL = ['reasoning_effort', 'parallel_tool_calls']

interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | object[] | null
  tool_call_id?: string
  tool_calls?: object[]
  reasoning_content?: string
  reasoning_details?: ReasoningDetail[]
  cache_control?: CacheControl
}

/** The field that a chat message comes from, and those of its parts and tool calls. */
interface Origin {
  field: string
  parts: string[]
  calls: string[]
}

interface Conversation {
  messages: ChatMessage[]
  origins: Origin[]
}

function messagesOf({ system, messages: given, cache_control: mark }: MessagesBody): Conversation {
  const messages: ChatMessage[] = []
  const origins: Origin[] = []
  const add = (message: ChatMessage, { field, parts = [], calls = [] }: Partial<Origin> & Pick<Origin, 'field'>) => {
    messages.push(message)
    origins.push({ field, parts, calls })
  }
  if (system !== undefined && system.length > 0) {
    const parts = typeof system === 'string' ? [] : system.map((_, n) => `system.${n}`)
    add(
      { role: 'system', content: typeof system === 'string' ? system : system.map(textPart) },
      { field: 'system', parts },
    )
  }
  for (const [n, { role, content }] of given.entries()) {
    const field = `messages.${n}`
    if (typeof content === 'string') add({ role, content }, { field })
    else if (role === 'assistant') {
      const of = (type: Block['type']) =>
        content.flatMap((block, at) => (block.type === type ? `${field}.content.${at}` : []))
      add(assistantMessage(content), { field, parts: of('text'), calls: of('tool_use') })
    } else for (const { message, parts } of userMessages(role, content, field)) add(message, { field, parts })
  }
  const last = messages.at(-1)
  if (mark && last) last.cache_control = markOf(mark)
  return { messages, origins }
}

function* userMessages(
  role: 'user' | 'system',
  blocks: readonly Block[],
  field: string,
): Generator<{ message: ChatMessage; parts: string[] }> {
  const parts: object[] = []
  const origins: string[] = []
  const add = (part: ResultPart, origin: string) => {
    parts.push(partOf(part))
    origins.push(origin)
  }
  for (const [at, block] of blocks.entries()) {
    if (block.type !== 'tool_result') continue
    const { tool_use_id: id, content, is_error: failed, cache_control: mark } = block
    const given = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? [])
    const texts = given.flatMap((part) => textOf(part) ?? [])
    for (const [n, part] of given.entries()) if (textOf(part) === null) add(part, `${field}.content.${at}.content.${n}`) // M1
    const said = `${failed ? 'Error: ' : ''}${texts.join('\n')}`
    const result = { role: 'tool' as const, content: said, tool_call_id: id }
    yield { message: { ...result, ...(mark && { cache_control: markOf(mark) }) }, parts: [] }
  }
  for (const [at, block] of blocks.entries())
    if (block.type === 'text' || block.type === 'image' || block.type === 'document')
      add(block, `${field}.content.${at}`)
  if (parts.length > 0) yield { message: { role, content: parts }, parts: origins }
}

function assistantMessage(blocks: readonly Block[]): ChatMessage {
  const texts: object[] = []
  const calls: object[] = []
  const details: ReasoningDetail[] = []
  let unsigned = ''
  for (const block of blocks) {
    if (block.type === 'text') texts.push(textPart(block))
    if (block.type === 'tool_use')
      calls.push({
        id: block.id,
        type: 'function',
        function: { name: block.name, arguments: JSON.stringify(block.input) },
      })
    if (block.type === 'thinking' && block.signature)
      details.push({ type: 'reasoning.text', text: block.thinking, signature: block.signature })
    else if (block.type === 'thinking') unsigned += block.thinking // M5
    const detail = block.type === 'redacted_thinking' ? detailOf(block.data) : null
    if (detail) details.push(detail)
  }
  return {
    role: 'assistant',
    content: texts.length > 0 ? texts : calls.length > 0 ? null : '',
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(unsigned !== '' && { reasoning_content: unsigned }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

function partOf(part: ResultPart): object {
  const mark = part.cache_control && { cache_control: markOf(part.cache_control) }
  if (part.type === 'text') return textPart(part)
  if (part.type === 'image') return { type: 'image_url', image_url: { url: urlOf(part.source) }, ...mark }
  const { source, title } = part
  if (source.type === 'text') return textPart({ text: textOf(part)!, cache_control: part.cache_control })
  return { type: 'file', file: { file_data: urlOf(source), ...(title && { filename: title }) }, ...mark }
}

/** Returns the text of a part, or null of an image or a file. */
function textOf(part: ResultPart): string | null {
  if (part.type === 'text') return part.text
  if (part.type === 'image' || part.source.type !== 'text') return null
  return part.title ? `${part.title}\n${part.source.data}` : part.source.data
}

type Mark = NonNullable<MessagesBody['cache_control']>

function textPart({ text, cache_control: mark }: { text: string; cache_control?: Mark | null | undefined }): object {
  return { type: 'text', text, ...(mark && { cache_control: markOf(mark) }) }
}

function markOf({ type, ttl }: Mark): NonNullable<CacheControl> {
  return { type, ...(ttl && { ttl }) }
}

type Source = Exclude<Exclude<ResultPart, { type: 'text' }>['source'], { type: 'text' }>

function urlOf(source: Source): string {
  return source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`
}

function chatBodyOf(body: MessagesBody, messages: ChatMessage[]): object {
  const { max_tokens: maxTokens, tools, tool_choice: choice, output_config: output } = body
  const alone = choice !== undefined && 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use
  const schema = output?.format?.schema
  return {
    model: body.model,
    messages,
    stream: body.stream,
    max_tokens: maxTokens !== undefined && maxTokens > chatLimits.maxTokens.max ? undefined : maxTokens, // M3
    stop: body.stop_sequences?.length === 0 ? undefined : body.stop_sequences,
    temperature: body.temperature,
    top_p: body.top_p,
    top_k: body.top_k,
    tools: tools?.map(functionOf),
    tool_choice: choiceOf(choice),
    parallel_tool_calls: alone && tools !== undefined && tools.length > 0 ? false : undefined,
    reasoning_effort: effortOf(body), // M2
    response_format: schema && { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    project_id: body.project_id,
  }
}

function functionOf({ name, description, input_schema: parameters, strict, cache_control: mark }: Tool): object {
  return {
    type: 'function',
    function: { name, ...(description && { description }), parameters, ...(strict && { strict }) },
    ...(mark && { cache_control: markOf(mark) }),
  }
}

function choiceOf(choice: MessagesBody['tool_choice']): unknown {
  if (choice === undefined) return undefined
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } }
  return choice.type === 'any' ? 'required' : choice.type
}

/** Budgets from which a model thinks with this effort. */
const BUDGETS = [
  [16_384, 'high'],
  [4_096, 'medium'],
  [0, 'low'],
] as const

/** M2 */
function effortOf({ thinking, output_config: output }: MessagesBody): string | undefined {
  if (thinking?.type === 'disabled') return 'none'
  if (output?.effort) return output.effort
  if (thinking === undefined) return undefined
  if (!('budget_tokens' in thinking)) return 'medium'
  const { budget_tokens: budget } = thinking
  return BUDGETS.find(([from]) => budget >= from)![1]
}

const NAMES = new Map([
  ['stop', 'stop_sequences'],
  ['response_format', 'output_config.format'],
  ['reasoning_effort', 'thinking'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
])

/** M4. @param origins of each message, if known */
export function nameOfField(field: string, origins: readonly Origin[] = []): string {
  const [first = '', at, ...rest] = field.split('.')
  if (first === 'tools' && rest[0] === 'function') return ['tools', at, ...nameInTool(rest.slice(1))].join('.')
  const origin = first === 'messages' && at !== undefined ? origins[Number(at)] : undefined
  if (origin === undefined) return NAMES.get(first) ?? field
  const [list, n, ...inside] = rest
  const part = list === 'content' ? origin.parts[Number(n)] : origin.calls[Number(n)]
  if (part === undefined || n === undefined) return origin.field
  return [
    part,
    ...(inside[0] === 'image_url' || inside[0] === 'file' ? ['source'] : inside[0] === 'text' ? inside : []),
  ].join('.')
}

function nameInTool([first = '', ...rest]: string[]): string[] {
  return [first === 'parameters' ? 'input_schema' : first, ...rest]
}

/** Yields the sources of images and files in a body. */
function* sourcesOf(body: unknown): Generator {
  for (const message of listOf(body, 'messages'))
    for (const block of listOf(message, 'content'))
      for (const part of fieldOf(block, 'type') === 'tool_result' ? listOf(block, 'content') : [block])
        if (hasSource(fieldOf(part, 'type'))) yield fieldOf(part, 'source')
}

function hasSource(type: unknown): boolean {
  return type === 'image' || type === 'document'
}

/** Yields the base64 at the places where a body can have images and files. */
export function* attachmentDataOf(body: unknown): Generator<string> {
  for (const source of sourcesOf(body)) {
    const data = fieldOf(source, 'data')
    if (fieldOf(source, 'type') === 'base64' && typeof data === 'string') yield data
  }
}

/** The URL of an image or file whose data was cut out, by the URL that has the placeholder. */
function cutUrlOf(source: unknown, cut: CutData | undefined): [string, string][] {
  const placeholder = fieldOf(source, 'data')
  const data = typeof placeholder === 'string' ? cut?.get(placeholder) : undefined
  if (data === undefined) return []
  const head = `data:${String(fieldOf(source, 'media_type'))};base64,`
  return [[`${head}${placeholder as string}`, `${head}${data}`]]
}
