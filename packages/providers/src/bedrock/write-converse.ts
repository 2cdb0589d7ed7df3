import type {
  CachePointBlock,
  ContentBlock,
  ConverseCommandInput,
  ImageFormat,
  Message,
  SystemContentBlock,
  Tool,
  ToolChoice,
  ToolConfiguration,
  ToolInputSchema,
} from '@aws-sdk/client-bedrock-runtime'
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

const lacking = [
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'verbosity',
  'reasoning_effort',
]

/** Writes a chat request as the input of Converse. Refuses what Converse lacks (`NotInWireFormat`). */
export function writeConverse({ model, forwarded, outputCap }: WireCall, seal: ReasoningSeal): ConverseCommandInput {
  const asked = JSON.parse(forwarded) as Forwarded
  refuseUnsayable(asked)
  const { temperature, top_p: topP } = asked as { temperature?: number; top_p?: number }
  const stop = [asked['stop'] ?? []].flat() as string[]
  const { system, messages } = converseMessages(asked.messages, seal)
  const toolConfig = toolsOf(asked)
  return {
    modelId: model,
    messages,
    ...(system.length > 0 && { system }),
    inferenceConfig: {
      maxTokens: outputCap,
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(stop.length > 0 && { stopSequences: stop }),
    },
    ...(toolConfig && { toolConfig }),
  }
}

function refuseUnsayable(asked: Forwarded): void {
  refuseFields(asked, lacking)
  const { type } = (asked['response_format'] ?? { type: 'text' }) as { type: string }
  if (type !== 'text')
    throw new NotInWireFormat(
      'response_format',
      `is ${type}, which this model does not know`,
      'describe it in the prompt',
    )
  if (asked['parallel_tool_calls'] === false)
    throw new NotInWireFormat('parallel_tool_calls', 'is false, and this model cannot be kept from it')
  if (Number(asked['temperature'] ?? 0) > 1)
    throw new NotInWireFormat('temperature', 'is above 1, the most that this model takes', 'send 1 or less')
}

interface ChatTool {
  cache_control?: CacheControl
  function: { name: string; description?: string; parameters?: object; strict?: boolean | null }
}

/** Converse has no `none` choice. No tools are sent instead, which a conversation with tool calls does not permit. */
function toolsOf(asked: Forwarded): ToolConfiguration | null {
  const given = asked['tools'] as ChatTool[] | undefined
  const called = asked.messages.some((message) => message.role === 'tool' || 'tool_calls' in message)
  if (asked['tool_choice'] === 'none' && called)
    throw new NotInWireFormat('tool_choice', 'is none after a tool was called', 'send auto')
  if (!given || asked['tool_choice'] === 'none') return null
  const tools = given.flatMap(({ cache_control: cache, function: { name, description, parameters } }): Tool[] => {
    const inputSchema = { json: { type: 'object', ...parameters } } as ToolInputSchema
    return [
      { toolSpec: { name, ...(description !== undefined && { description }), inputSchema } },
      ...cachePoint(cache),
    ]
  })
  const toolChoice = choiceOf(asked['tool_choice'])
  return { tools, ...(toolChoice && { toolChoice }) }
}

function choiceOf(choice: unknown): ToolChoice | null {
  switch (choice) {
    case undefined:
      return null
    case 'auto':
      return { auto: {} }
    case 'required':
      return { any: {} }
    default:
      return { tool: { name: nameOfChoice(choice) } }
  }
}

type ChatMessage = Forwarded['messages'][number]
type Assistant = Extract<ChatMessage, { role: 'assistant' }>
type JsonObject = Extract<ContentBlock, { toolUse: unknown }>['toolUse']['input']

/**
 * Converts the messages of a chat request to turns of user and assistant. Instructions are separate and tool results
 * are user content. Reasoning goes back only to the provider it came from. Throws `NotInWireFormat`.
 */
function converseMessages(
  messages: readonly ChatMessage[],
  seal: ReasoningSeal,
): { system: SystemContentBlock[]; messages: Message[] } {
  refuseUnlikeMessages(messages)
  const system: Written[] = []
  const turns: (Message & { content: ContentBlock[] })[] = []
  messages.forEach((message, n) => {
    const cache = cachePoint(message.cache_control)
    if (message.role === 'system') return void system.push(...textBlocks(message.content), ...cache)
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const blocks = blocksOf(message, n, seal)
    const content = blocks.length === 0 ? [] : [...blocks, ...cache]
    const last = turns.at(-1)
    if (content.length === 0) return
    if (last?.role === role) last.content.push(...content)
    else turns.push({ role, content })
  })
  if (turns.length === 0) return { system: [], messages: [{ role: 'user', content: system }] }
  return { system, messages: turns }
}

/** A text, or the end of a prefix to cache. */
type Written = { text: string } | { cachePoint: CachePointBlock }

function cachePoint(cache: CacheControl): { cachePoint: CachePointBlock }[] {
  return cache ? [{ cachePoint: { type: 'default', ...(cache.ttl && { ttl: cache.ttl }) } }] : []
}

function textBlocks(content: ChatMessage['content']): Written[] {
  if (typeof content === 'string' || !content) return textsOf(content).map((text) => ({ text }))
  return content.flatMap((part) =>
    textsOf([part]).flatMap((text): Written[] => [{ text }, ...cachePoint(cacheControlOf(part))]),
  )
}

function blocksOf(message: Exclude<ChatMessage, { role: 'system' }>, n: number, seal: ReasoningSeal): ContentBlock[] {
  switch (message.role) {
    case 'user':
      return userBlocks(message.content, n)
    case 'tool': {
      const content = textsOf(message.content).map((text) => ({ text }))
      return [{ toolResult: { toolUseId: fit(message.tool_call_id), content } }]
    }
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }, at): ContentBlock => {
        const input = argumentsOf(given, `messages.${n}.tool_calls.${at}.function.arguments`) as JsonObject
        return { toolUse: { toolUseId: fit(id), name, input } }
      })
      const refused = message.refusal ? textBlocks(message.refusal) : []
      const said = [...textBlocks(message.content), ...refused, ...calls]
      return said.length === 0 ? [] : [...reasoningOf(message, seal), ...said]
    }
  }
}

function reasoningOf({ reasoning_details: details }: Assistant, { open }: ReasoningSeal): ContentBlock[] {
  return (details ?? []).flatMap((detail): ContentBlock[] => {
    if (detail.type === 'reasoning.encrypted') {
      const redacted = open(detail.data, '')
      return redacted === null ? [] : [{ reasoningContent: { redactedContent: Buffer.from(redacted, 'base64') } }]
    }
    const signature = open(detail.signature, detail.text)
    return signature === null ? [] : [{ reasoningContent: { reasoningText: { text: detail.text, signature } } }]
  })
}

function userBlocks(content: ChatMessage['content'], n: number): ContentBlock[] {
  if (typeof content === 'string' || !content) return textBlocks(content)
  const blocks = content.flatMap((part, at): ContentBlock[] => {
    if (part.type === 'image_url')
      return [image(part.image_url.url, `messages.${n}.content.${at}.image_url`), ...cachePoint(part.cache_control)]
    if (part.type === 'file') return [document(part.file, at), ...cachePoint(part.cache_control)]
    return textBlocks([part])
  })
  const isAlone = blocks.some((block) => 'document' in block) && !blocks.some((block) => 'text' in block)
  if (isAlone)
    throw new NotInWireFormat(`messages.${n}.content`, 'is a file without a text', 'say in a text part what to do')
  return blocks
}

/** The names of a request must differ, and few characters are permitted in them. */
function document({ file_data: url, filename }: FilePart['file'], at: number): ContentBlock {
  const name = `${filename
    .replace(/[^A-Za-z0-9-]+/g, ' ')
    .trim()
    .slice(0, 100)} ${at}`.trim()
  return { document: { format: 'pdf', name, source: { bytes: Buffer.from(inlineData(url)!.base64, 'base64') } } }
}

function image(url: string, field: string): ContentBlock {
  const inline = inlineData(url)
  if (inline === null) throw new NotInWireFormat(field, 'is an address', 'send the image itself, as a data: URL')
  const format = inline.type.slice('image/'.length) as ImageFormat
  return { image: { format, source: { bytes: Buffer.from(inline.base64, 'base64') } } }
}

/** Replaces an ID of another provider that has characters this format forbids, or is too long. */
function fit(id: string): string {
  return /^[\w-]{1,64}$/.test(id) ? id : callIdOf(id)
}

/** Parts of a reasoning block that must come back. `redacted` is base64, or '' if absent. */
export interface Reasoning {
  text: string
  signature: string
  redacted: string
}

export function sealedReasoning({ text, signature, redacted }: Reasoning, { seal }: ReasoningSeal): ReasoningDetail[] {
  if (redacted !== '') return [{ type: 'reasoning.encrypted', data: seal(redacted, '') }]
  return signature === '' ? [] : [{ type: 'reasoning.text', text, signature: seal(signature, text) }]
}
