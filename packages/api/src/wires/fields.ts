import { Refusal } from '../refusal.ts'
import type { Delta, ReasoningDetail } from '../chat-answer.ts'
import { reasoningDetail } from '../chat-request.ts'

// Reads of a body that no schema has checked yet.

export function listOf(value: unknown, field: string): unknown[] {
  const list = fieldOf(value, field)
  return Array.isArray(list) ? list : []
}

export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, field)
    ? (value as Record<string, unknown>)[field]
    : undefined
}

/**
 * Returns a refusal of a chat request in the words of another wire: the field at fault by its name there.
 * @param nameOf returns the name of a field of a chat request
 */
export function renamed(refusal: Refusal, nameOf: (field: string) => string): Refusal {
  const { code, param, message, resolution, details } = refusal.body
  const name = param === null ? null : nameOf(param)
  if (param === null || name === null || name === param) return refusal
  const word = new RegExp(`(?<![\\w.])${param.replaceAll('.', '\\.')}(?!\\w)`, 'g')
  const inWords = (text: string) => text.replace(word, () => name)
  const extras = { param: name, ...(details && { details }), headers: refusal.headers }
  return new Refusal(code, inWords(message), inWords(resolution), extras)
}

// Other wires have one opaque text for what a provider needs back of its reasoning: callers return it unchanged. It is
// the detail as JSON. What is secret in it is already sealed.

export function opaqueOf(detail: ReasoningDetail): string {
  return JSON.stringify(detail)
}

/** Returns null for a text that was not written here: another model thought it. */
export function detailOf(opaque: string | null | undefined): ReasoningDetail | null {
  try {
    const parsed = reasoningDetail.safeParse(JSON.parse(opaque ?? ''))
    return parsed.success ? (parsed.data as ReasoningDetail) : null
  } catch {
    return null
  }
}

// Other wires have texts, thoughts and tool calls apart, so each needs to know where one ends.

/** A delta apart from its tool calls. */
export type Said = Omit<Delta, 'tool_calls'>

export function saysSomething(said: Said): boolean {
  const { content, refusal, reasoning_content: thought, reasoning, reasoning_details: details = [] } = said
  return Boolean(content || refusal || thought || reasoning) || details.length > 0
}

/** Whether a delta holds nothing but its role. */
export function saysNothing({ role: _, ...said }: Delta): boolean {
  return Object.values(said).every((value) => value === undefined || value === null || value === '')
}

export interface ArgumentsEnd {
  add(json: string): void
  /** Whether the arguments of a tool call, a JSON object, are complete. */
  isReached(): boolean
}

/** Finds the end of the arguments of a tool call, which come in parts, and reads each character once. */
export function findArgumentsEnd(): ArgumentsEnd {
  let depth = 0
  let begun = false
  let inString = false
  let escaped = false

  function read(char: string): void {
    if (escaped) escaped = false
    else if (inString && char === '\\') escaped = true
    else if (char === '"') inString = !inString
    else if (inString) return
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    begun = true
  }
  return {
    add(json) {
      for (const char of json) read(char)
    },
    isReached: () => begun && depth <= 0 && !inString,
  }
}
