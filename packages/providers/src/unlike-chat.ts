import type { CacheControl, Forwarded } from '@gateway/api/chat-request'
import { NotInWireFormat } from './wire-format.ts'

// Features of chat completions that other formats lack. A call that uses one is refused with the field named; nothing
// of a call is silently changed or dropped.

type Message = Forwarded['messages'][number]
type Part = Exclude<Message['content'], string | null | undefined>[number]

/** Refuses speaker names, and instructions in the middle of a conversation. Throws `NotInWireFormat`. */
export function refuseUnlikeMessages(messages: readonly Message[]): void {
  let begun = false
  messages.forEach((message, n) => {
    // The name of a tool is already in its call.
    if (message.role !== 'tool' && message.name !== undefined)
      throw new NotInWireFormat(`messages.${n}.name`, 'names a speaker, and this model knows no names')
    if (message.role !== 'system') begun = true
    else if (begun)
      throw new NotInWireFormat(
        `messages.${n}.role`,
        'is system behind a message of another role, and this model takes instructions in front only',
        'put the message in front, or send it as one of the user',
      )
  })
}

/** Refuses these fields if they are set. Throws `NotInWireFormat`. */
export function refuseFields(asked: Forwarded, fields: readonly string[]): void {
  for (const field of fields)
    if (asked[field] !== undefined && asked[field] !== false)
      throw new NotInWireFormat(field, 'is not among what this model can do')
}

/** Parses the arguments of a tool call. A model may have written a non-object, which these formats can't express. */
export function argumentsOf(json: string, field: string): object {
  if (json.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // refused below, without quoting the arguments
  }
  throw new NotInWireFormat(
    field,
    'is not a JSON object',
    'send the arguments as the model wrote them, if they are one',
  )
}

/** Returns the name in a `tool_choice` that names a function. Throws `NotInWireFormat` for a choice of another form. */
export function nameOfChoice(choice: unknown): string {
  const { type, function: named } = choice as { type?: unknown; function?: { name?: unknown } }
  if (type === 'function' && typeof named?.name === 'string') return named.name
  throw new NotInWireFormat(
    'tool_choice',
    'is of a form that this model does not know',
    'name a function, or send auto',
  )
}

/** Returns the texts, without blank ones, which the formats forbid. */
export function textsOf(content: string | readonly Part[] | null | undefined): string[] {
  const texts =
    typeof content === 'string'
      ? [content]
      : (content ?? []).map((part) => (part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : ''))
  return texts.filter((text) => text.trim() !== '')
}

/** Returns the mark of a part that ends a prefix to cache. */
export function cacheControlOf(part: Part): CacheControl {
  return 'cache_control' in part ? part.cache_control : undefined
}

/** Returns the type and base64 of a `data:` URL, or null for any other URL. */
export function inlineData(url: string): { type: string; base64: string } | null {
  const [, type, base64] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return type === undefined || base64 === undefined ? null : { type, base64 }
}
