import type { ReasoningDetail } from '../chat-answer.ts'
import { reasoningDetail } from '../chat-request.ts'

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
