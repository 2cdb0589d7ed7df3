import type { Forwarded } from '@gateway/contracts/chat-request'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { argumentsOf, inlineImage, refuseUnlikeMessages, textsOf } from '../unlike-chat.ts'
import { NotInWireFormat } from '../wire-format.ts'

type ChatMessage = Forwarded['messages'][number]
type Assistant = Extract<ChatMessage, { role: 'assistant' }>
type Part = Record<string, unknown>

interface Content {
  role: 'user' | 'model'
  parts: Part[]
}

/** Stands where a signature is asked for and there is none: of a call that another model made (docs/providers.md). */
const noSignature = 'skip_thought_signature_validator'

/**
 * The messages of a chat request as contents of two roles. Instructions stand apart; results of tools are said by the user,
 * under the name of the function. Throws `NotInWireFormat`.
 */
export function contentsOf(messages: readonly ChatMessage[], signed: boolean, seal: ReasoningSeal) {
  refuseUnlikeMessages(messages)
  const instructions: Part[] = []
  const contents: Content[] = []
  const functions = new Map<string, string>()
  messages.forEach((message, n) => {
    if (message.role === 'system') return void instructions.push(...textParts(message.content))
    for (const { id, function: called } of callsOf(message)) functions.set(id, called.name)
    const role = message.role === 'assistant' ? 'model' : 'user'
    const parts = partsOf(message)
    const last = contents.at(-1)
    if (parts.length === 0) return
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts })

    function partsOf(of: Exclude<ChatMessage, { role: 'system' }>): Part[] {
      switch (of.role) {
        case 'user':
          return userParts(of.content, n)
        case 'tool':
          return [toolResult(of, functions.get(of.tool_call_id), n)]
        case 'assistant':
          return answerParts(of, n, signed, seal)
      }
    }
  })
  if (contents.length > 0) return { instructions, contents }
  return { instructions: [], contents: [{ role: 'user', parts: instructions }] }
}

function callsOf(message: ChatMessage): NonNullable<Assistant['tool_calls']> {
  return message.role === 'assistant' ? (message.tool_calls ?? []) : []
}

function answerParts(message: Assistant, n: number, signed: boolean, seal: ReasoningSeal): Part[] {
  const signatures = signaturesOf(message, seal)
  const texts = [...textParts(message.content), ...(message.refusal ? textParts(message.refusal) : [])]
  const last = texts.at(-1)
  const ofText = signatures.get('')
  if (last && ofText !== undefined) last['thoughtSignature'] = ofText
  const calls = callsOf(message).map(({ id, function: called }, at): Part => {
    const args = argumentsOf(called.arguments, `messages.${n}.tool_calls.${at}.function.arguments`)
    // Of calls made at once only the first one is signed.
    const signature = signatures.get(id) ?? (signed && at === 0 ? noSignature : undefined)
    return {
      functionCall: { id, name: called.name, args },
      ...(signature !== undefined && { thoughtSignature: signature }),
    }
  })
  return [...texts, ...calls]
}

/** By the id of the call that they belong to, or '' for the text. */
function signaturesOf({ reasoning_details: details }: Assistant, { open }: ReasoningSeal): Map<string, string> {
  const signatures = new Map<string, string>()
  for (const detail of details ?? []) {
    if (detail.type !== 'reasoning.encrypted') continue
    const signature = open(detail.data, detail.id ?? '')
    if (signature !== null) signatures.set(detail.id ?? '', signature)
  }
  return signatures
}

function toolResult(
  { tool_call_id: id, content }: Extract<ChatMessage, { role: 'tool' }>,
  name: string | undefined,
  n: number,
): Part {
  if (name === undefined)
    throw new NotInWireFormat(`messages.${n}.tool_call_id`, 'answers no tool call before it', 'send the call too')
  return { functionResponse: { id, name, response: { output: textsOf(content).join('\n') } } }
}

function userParts(content: ChatMessage['content'], n: number): Part[] {
  if (typeof content === 'string' || !content) return textParts(content)
  return content.flatMap((part, at): Part[] =>
    part.type === 'image_url'
      ? [image(part.image_url.url, `messages.${n}.content.${at}.image_url`)]
      : textParts([part]),
  )
}

function image(url: string, field: string): Part {
  const inline = inlineImage(url)
  if (inline === null) throw new NotInWireFormat(field, 'is an address', 'send the image itself, as a data: URL')
  if (inline.type === 'image/gif') throw new NotInWireFormat(field, 'is a GIF', 'send PNG, JPEG or WebP')
  return { inlineData: { mimeType: inline.type, data: inline.base64 } }
}

function textParts(content: ChatMessage['content']): Part[] {
  return textsOf(content).map((text) => ({ text }))
}
