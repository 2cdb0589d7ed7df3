import type { CacheControl, FilePart, Forwarded } from '@gateway/api/chat-request'
import type { ReasoningSeal } from '../openai-responses/reasoning-item.ts'
import {
  argumentsOf,
  cacheControlOf,
  inlineData,
  nameOfChoice,
  refuseFields,
  refuseUnlikeMessages,
  textsOf,
} from '../unlike-chat.ts'
import { NotInWireFormat, type WireCall } from '../wire-format.ts'
import type { ReasoningDetail } from '@gateway/api/chat-answer'
import { callIdOf } from '../chat-port.ts'
import type { Fields } from '../untrusted.ts'

/**
 * Writes a chat request in the Messages format. Refuses what the format lacks (`NotInWireFormat`), except the `detail`
 * of an image, which affects its price and not the response (docs/providers.md).
 */
export function writeMessages({ model, forwarded, outputCap, stream }: WireCall, seal: ReasoningSeal): string {
  const asked = JSON.parse(forwarded) as Forwarded
  refuseUnsayable(asked)
  const { system, messages } = conversationOf(asked.messages, seal)
  const thinks = thinksAbout(asked, messages)
  const stop = [asked['stop'] ?? []].flat() as string[]
  if (stop.some((sequence) => sequence.trim() === ''))
    throw new NotInWireFormat('stop', 'has a sequence of blanks', 'leave that sequence out')
  return JSON.stringify({
    model,
    max_tokens: outputCap,
    ...(stream && { stream }),
    ...(system.length > 0 && { system }),
    messages,
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...toolsOf(asked),
    ...outputOf(asked, thinks),
    ...samplingOf(asked, thinks),
  })
}

const lacking = ['seed', 'frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'verbosity']

function refuseUnsayable(asked: Forwarded): void {
  refuseFields(asked, lacking)
  if (formatOf(asked)?.type === 'json_object')
    throw new NotInWireFormat('response_format', 'is json_object, without a schema', 'send json_schema with the schema')
  if (asked['reasoning_effort'] === 'minimal')
    throw new NotInWireFormat('reasoning_effort', 'is minimal, which this model does not know', 'send none or low')
}

interface ResponseFormat {
  type: 'text' | 'json_object' | 'json_schema'
  json_schema?: { schema?: unknown }
}

function formatOf(asked: Forwarded): ResponseFormat | undefined {
  return asked['response_format'] as ResponseFormat | undefined
}

/** Writes `json_schema` and `reasoning_effort`, which have other names in this format. */
function outputOf(asked: Forwarded, thinks: boolean): object {
  const format = formatOf(asked)
  const effort = asked['reasoning_effort']
  const config = {
    ...(effort !== undefined && effort !== 'none' && { effort }),
    ...(format?.type === 'json_schema' && {
      format: { type: 'json_schema', schema: format.json_schema?.schema ?? { type: 'object' } },
    }),
  }
  return {
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(effort === 'none' && { thinking: { type: 'disabled' } }),
    ...(thinks && { thinking: { type: 'adaptive', display: 'summarized' } }),
  }
}

/**
 * Whether to request thinking. After a tool result only if the calling turn came back with its reasoning, without which
 * the format refuses to continue. Never with a forced tool, which thinking excludes.
 */
function thinksAbout(asked: Forwarded, turns: readonly Turn[]): boolean {
  const effort = asked['reasoning_effort']
  const choice = asked['tool_choice']
  const forced = choice !== undefined && choice !== 'auto' && choice !== 'none'
  if (effort === undefined || effort === 'none' || forced) return false
  return (
    asked.messages.at(-1)?.role !== 'tool' || beginsWithThinking(turns.findLast(({ role }) => role === 'assistant'))
  )
}

function beginsWithThinking(turn: Turn | undefined): boolean {
  const type = turn?.content[0]?.type
  return type === 'thinking' || type === 'redacted_thinking'
}

/** Writes the sampling parameters. The maximum temperature is 1. While thinking, sampling can't be changed. */
function samplingOf(asked: Forwarded, thinks: boolean): object {
  const { temperature, top_p: topP, top_k: topK } = asked as { temperature?: number; top_p?: number; top_k?: number }
  if (temperature !== undefined && temperature > 1)
    throw new NotInWireFormat('temperature', 'is above 1, the most that this model takes', 'send 1 or less')
  if (thinks && temperature !== undefined && temperature !== 1) throw whileThinking('temperature', 1)
  if (thinks && topP !== undefined && topP < leastTopPWhileThinking)
    throw whileThinking('top_p', leastTopPWhileThinking)
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && !thinks && { top_k: topK }),
  }
}

const leastTopPWhileThinking = 0.95

function whileThinking(field: string, taken: number): NotInWireFormat {
  return new NotInWireFormat(
    field,
    'is given together with reasoning_effort, with which this model samples in its own way',
    `leave one of the two out, or send ${taken}`,
  )
}

type ChatMessage = Forwarded['messages'][number]
type Assistant = Extract<ChatMessage, { role: 'assistant' }>

interface TextBlock {
  type: 'text'
  text: string
  cache_control?: CacheControl
}
export type Block =
  | TextBlock
  | {
      type: 'image' | 'document' | 'tool_use' | 'tool_result' | 'thinking' | 'redacted_thinking'
      [field: string]: unknown
    }

export interface Turn {
  role: 'user' | 'assistant'
  content: Block[]
}

/**
 * Converts the messages of a chat request to turns of user and assistant. Instructions are separate, tool results are
 * user content, and consecutive messages of a role form one turn. Blank texts, which the format forbids, are dropped,
 * and so is reasoning of another provider. Throws `NotInWireFormat`.
 */
function conversationOf(
  messages: readonly ChatMessage[],
  seal: ReasoningSeal,
): { system: TextBlock[]; messages: Turn[] } {
  refuseUnlikeMessages(messages)
  const system: TextBlock[] = []
  const turns: Turn[] = []
  messages.forEach((message, n) => {
    const cache = message.cache_control
    if (message.role === 'system') system.push(...markLast(textBlocks(message.content), cache))
    else
      addTurn(turns, message.role === 'assistant' ? 'assistant' : 'user', markLast(blocksOf(message, n, seal), cache))
  })
  // Instructions without other messages become a user turn, because the model needs one to respond to.
  if (turns.length === 0 && system.length > 0) return { system: [], messages: [{ role: 'user', content: system }] }
  return { system, messages: turns }
}

/** Marks the end of a prefix to cache. A mark on a message is one on its last block. */
function markLast<Of extends Block>(blocks: Of[], cache: CacheControl): Of[] {
  const last = blocks.at(-1)
  return cache && last ? [...blocks.slice(0, -1), { ...last, cache_control: cache }] : blocks
}

function addTurn(turns: Turn[], role: Turn['role'], content: Block[]): void {
  if (content.length === 0) return
  const last = turns.at(-1)
  if (last?.role === role) last.content.push(...content)
  else turns.push({ role, content })
}

function blocksOf(message: Exclude<ChatMessage, { role: 'system' }>, n: number, seal: ReasoningSeal): Block[] {
  switch (message.role) {
    case 'user':
      return partsOf(message.content)
    case 'tool':
      return [toolResult(message)]
    case 'assistant': {
      const refused = message.refusal ? textBlocks(message.refusal) : []
      const calls = (message.tool_calls ?? []).map((call, at) => toolUse(call, `messages.${n}.tool_calls.${at}`))
      const said = [...textBlocks(message.content), ...refused, ...calls]
      return said.length === 0 ? [] : [...reasoningOf(message, seal), ...said]
    }
  }
}

/** Returns the reasoning that this provider signed. A seal that does not open is from another provider. */
function reasoningOf({ reasoning_details: details }: Assistant, seal: ReasoningSeal): Block[] {
  return (details ?? []).flatMap((detail): Block[] => {
    if (detail.type === 'reasoning.encrypted') {
      const data = seal.open(detail.data, '')
      return data === null ? [] : [{ type: 'redacted_thinking', data }]
    }
    const signature = seal.open(detail.signature, detail.text)
    return signature === null ? [] : [{ type: 'thinking', thinking: detail.text, signature }]
  })
}

function partsOf(content: ChatMessage['content']): Block[] {
  if (typeof content === 'string' || !content) return textBlocks(content)
  return content.flatMap((part): Block[] => {
    if (part.type === 'image_url') return markLast([image(part.image_url.url)], part.cache_control)
    if (part.type === 'file') return markLast([document(part.file)], part.cache_control)
    return textBlocks([part])
  })
}

function textBlocks(content: ChatMessage['content']): TextBlock[] {
  if (typeof content === 'string' || !content) return textsOf(content).map((text) => ({ type: 'text', text }))
  return content.flatMap((part) =>
    textsOf([part]).flatMap((text) => markLast<TextBlock>([{ type: 'text', text }], cacheControlOf(part))),
  )
}

function image(url: string): Block {
  return { type: 'image', source: sourceOf(url) }
}

function document({ file_data: url, filename: title }: FilePart['file']): Block {
  return { type: 'document', title, source: sourceOf(url) }
}

function sourceOf(url: string): object {
  const inline = inlineData(url)
  return inline ? { type: 'base64', media_type: inline.type, data: inline.base64 } : { type: 'url', url }
}

function toolUse({ id, function: called }: NonNullable<Assistant['tool_calls']>[number], field: string): Block {
  const input = argumentsOf(called.arguments, `${field}.function.arguments`)
  return { type: 'tool_use', id: fit(id), name: called.name, input }
}

function toolResult({ tool_call_id: id, content }: Extract<ChatMessage, { role: 'tool' }>): Block {
  const texts = textBlocks(content)
  return { type: 'tool_result', tool_use_id: fit(id), ...(texts.length > 0 && { content: texts }) }
}

/** Replaces an ID of another provider that has characters this format forbids. */
function fit(id: string): string {
  return /^[\w-]+$/.test(id) ? id : callIdOf(id)
}

interface ChatTool {
  cache_control?: CacheControl
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean | null }
}

/** Writes the tools and the tool choice. Throws `NotInWireFormat` for a choice that the format lacks. */
function toolsOf(asked: Forwarded): object {
  const tools = asked['tools'] as ChatTool[] | undefined
  if (!tools) return {}
  const choice = choiceOf(asked['tool_choice'], asked['parallel_tool_calls'] === false)
  return { tools: tools.map(toolOf), ...(choice && { tool_choice: choice }) }
}

function toolOf({ cache_control: cache, function: { name, description, parameters, strict } }: ChatTool): object {
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: { type: 'object', ...parameters },
    ...(strict && { strict }),
    ...(cache && { cache_control: cache }),
  }
}

function choiceOf(choice: unknown, oneAtATime: boolean): object | null {
  const onlyOne = oneAtATime && { disable_parallel_tool_use: true }
  switch (choice) {
    case undefined:
      return oneAtATime ? { type: 'auto', ...onlyOne } : null
    case 'none':
      return { type: 'none' }
    case 'auto':
      return { type: 'auto', ...onlyOne }
    case 'required':
      return { type: 'any', ...onlyOne }
    default:
      return { type: 'tool', name: nameOfChoice(choice), ...onlyOne }
  }
}

/** Returns the detail of a thinking block that must come back for the model to continue; empty for other blocks. */
export function sealedThinking(
  { type, thinking, signature, data }: Fields,
  { seal }: ReasoningSeal,
): ReasoningDetail[] {
  if (type === 'redacted_thinking' && typeof data === 'string')
    return [{ type: 'reasoning.encrypted', data: seal(data, '') }]
  if (type !== 'thinking' || typeof thinking !== 'string' || typeof signature !== 'string' || signature === '')
    return []
  return [{ type: 'reasoning.text', text: thinking, signature: seal(signature, thinking) }]
}
