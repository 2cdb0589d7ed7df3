import type { Forwarded } from '@gateway/contracts/chat-request'
import { callIdOf } from '../call-id.ts'
import { NotInWireFormat } from '../wire-format.ts'

type ChatMessage = Forwarded['messages'][number]
type Content = ChatMessage['content']

interface TextBlock {
  type: 'text'
  text: string
}
type Block = TextBlock | { type: 'image' | 'tool_use' | 'tool_result'; [field: string]: unknown }

interface Turn {
  role: 'user' | 'assistant'
  content: Block[]
}

/**
 * The messages of a chat request as turns of two. Instructions stand apart here, so all of them come first; results of
 * tools are said by the user; what one says in several messages is one turn. Texts of blanks alone, which the format
 * forbids, are left out, and so is reasoning, which it takes back only under the provider's own signature.
 * Throws `NotInWireFormat`.
 */
export function conversationOf(messages: readonly ChatMessage[]): { system: TextBlock[]; messages: Turn[] } {
  const system: TextBlock[] = []
  const turns: Turn[] = []
  for (const message of messages) {
    if (message.role === 'system') system.push(...textsOf(message.content))
    else addTurn(turns, message.role === 'assistant' ? 'assistant' : 'user', blocksOf(message))
  }
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

function blocksOf(message: Exclude<ChatMessage, { role: 'system' }>): Block[] {
  switch (message.role) {
    case 'user':
      return partsOf(message.content)
    case 'tool':
      return [toolResult(message)]
    case 'assistant': {
      const refused = message.refusal ? textsOf(message.refusal) : []
      return [...textsOf(message.content), ...refused, ...(message.tool_calls ?? []).map(toolUse)]
    }
  }
}

function partsOf(content: Content): Block[] {
  if (typeof content === 'string' || !content) return textsOf(content)
  return content.flatMap((part): Block[] => (part.type === 'image_url' ? [image(part.image_url.url)] : textsOf([part])))
}

function textsOf(content: Content): TextBlock[] {
  const texts =
    typeof content === 'string'
      ? [content]
      : (content ?? []).map((part) => (part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : ''))
  return texts.filter((text) => text.trim() !== '').map((text) => ({ type: 'text', text }))
}

function image(url: string): Block {
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type: type, data }
  return { type: 'image', source }
}

function toolUse({
  id,
  function: { name, arguments: given },
}: {
  id: string
  function: { name: string; arguments: string }
}): Block {
  return { type: 'tool_use', id: fit(id), name, input: objectOf(given) }
}

function toolResult({ tool_call_id: id, content }: Extract<ChatMessage, { role: 'tool' }>): Block {
  const texts = textsOf(content)
  return { type: 'tool_result', tool_use_id: fit(id), ...(texts.length > 0 && { content: texts }) }
}

/** Another provider's id may have characters that no id has here. */
function fit(id: string): string {
  return /^[\w-]+$/.test(id) ? id : callIdOf(id)
}

/** The arguments of a call. A model may have written what is no object; then nobody here could have made that call. */
function objectOf(json: string): object {
  if (json.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // refused below, without quoting the arguments
  }
  throw new NotInWireFormat('a tool call whose arguments are no JSON object')
}
