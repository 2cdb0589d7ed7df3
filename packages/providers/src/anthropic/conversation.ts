import type { Forwarded } from '@gateway/contracts/chat-request'
import { callIdOf } from '../call-id.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { argumentsOf, inlineImage, refuseUnlikeMessages, textsOf } from '../unlike-chat.ts'

type ChatMessage = Forwarded['messages'][number]
type Assistant = Extract<ChatMessage, { role: 'assistant' }>

interface TextBlock {
  type: 'text'
  text: string
}
export type Block =
  | TextBlock
  | { type: 'image' | 'tool_use' | 'tool_result' | 'thinking' | 'redacted_thinking'; [field: string]: unknown }

export interface Turn {
  role: 'user' | 'assistant'
  content: Block[]
}

/**
 * The messages of a chat request as turns of two. Instructions stand apart here; results of tools are said by the user; what
 * one says in several messages is one turn. Texts of blanks alone, which the format forbids, are left out, and so is
 * reasoning that is not this provider's own. Throws `NotInWireFormat`.
 */
export function conversationOf(
  messages: readonly ChatMessage[],
  seal: ReasoningSeal,
): { system: TextBlock[]; messages: Turn[] } {
  refuseUnlikeMessages(messages)
  const system: TextBlock[] = []
  const turns: Turn[] = []
  messages.forEach((message, n) => {
    if (message.role === 'system') system.push(...textBlocks(message.content))
    else addTurn(turns, message.role === 'assistant' ? 'assistant' : 'user', blocksOf(message, n, seal))
  })
  // Instructions alone are for somebody to answer.
  if (turns.length === 0 && system.length > 0) return { system: [], messages: [{ role: 'user', content: system }] }
  return { system, messages: turns }
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

/** What the provider itself has signed and sealed; what does not open came from elsewhere. */
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
  return content.flatMap((part): Block[] =>
    part.type === 'image_url' ? [image(part.image_url.url)] : textBlocks([part]),
  )
}

function textBlocks(content: ChatMessage['content']): TextBlock[] {
  return textsOf(content).map((text) => ({ type: 'text', text }))
}

function image(url: string): Block {
  const inline = inlineImage(url)
  const source = inline ? { type: 'base64', media_type: inline.type, data: inline.base64 } : { type: 'url', url }
  return { type: 'image', source }
}

function toolUse({ id, function: called }: NonNullable<Assistant['tool_calls']>[number], field: string): Block {
  const input = argumentsOf(called.arguments, `${field}.function.arguments`)
  return { type: 'tool_use', id: fit(id), name: called.name, input }
}

function toolResult({ tool_call_id: id, content }: Extract<ChatMessage, { role: 'tool' }>): Block {
  const texts = textBlocks(content)
  return { type: 'tool_result', tool_use_id: fit(id), ...(texts.length > 0 && { content: texts }) }
}

/** Another provider's id may have characters that no id has here. */
function fit(id: string): string {
  return /^[\w-]+$/.test(id) ? id : callIdOf(id)
}
