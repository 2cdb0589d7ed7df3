import type { ContentBlock, ImageFormat, Message, SystemContentBlock } from '@aws-sdk/client-bedrock-runtime'
import type { Forwarded } from '@gateway/contracts/chat-request'
import { callIdOf } from '../call-id.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { argumentsOf, inlineImage, refuseUnlikeMessages, textsOf } from '../unlike-chat.ts'
import { NotInWireFormat } from '../wire-format.ts'

type ChatMessage = Forwarded['messages'][number]
type Assistant = Extract<ChatMessage, { role: 'assistant' }>
type JsonObject = Extract<ContentBlock, { toolUse: unknown }>['toolUse']['input']

/**
 * The messages of a chat request as turns of two. Instructions stand apart here; results of tools are said by the user.
 * Reasoning goes back where it is this provider's own. Throws `NotInWireFormat`.
 */
export function converseMessages(
  messages: readonly ChatMessage[],
  seal: ReasoningSeal,
): { system: SystemContentBlock[]; messages: Message[] } {
  refuseUnlikeMessages(messages)
  const system: string[] = []
  const turns: (Message & { content: ContentBlock[] })[] = []
  messages.forEach((message, n) => {
    if (message.role === 'system') return void system.push(...textsOf(message.content))
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = blocksOf(message, n, seal)
    const last = turns.at(-1)
    if (content.length === 0) return
    if (last?.role === role) last.content.push(...content)
    else turns.push({ role, content })
  })
  const instructions = system.map((text) => ({ text }))
  if (turns.length === 0) return { system: [], messages: [{ role: 'user', content: instructions }] }
  return { system: instructions, messages: turns }
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
      const texts = [...textsOf(message.content), ...(message.refusal ? textsOf(message.refusal) : [])]
      const said = [...texts.map((text) => ({ text })), ...calls]
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
  if (typeof content === 'string' || !content) return textsOf(content).map((text) => ({ text }))
  return content.flatMap((part, at): ContentBlock[] =>
    part.type === 'image_url'
      ? [image(part.image_url.url, `messages.${n}.content.${at}.image_url`)]
      : textsOf([part]).map((text) => ({ text })),
  )
}

function image(url: string, field: string): ContentBlock {
  const inline = inlineImage(url)
  if (inline === null) throw new NotInWireFormat(field, 'is an address', 'send the image itself, as a data: URL')
  const format = inline.type.slice('image/'.length) as ImageFormat
  return { image: { format, source: { bytes: Buffer.from(inline.base64, 'base64') } } }
}

/** Another provider's id may have characters that no id has here, or be too long. */
function fit(id: string): string {
  return /^[\w-]{1,64}$/.test(id) ? id : callIdOf(id)
}
