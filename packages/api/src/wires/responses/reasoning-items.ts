import type { ReasoningDetail } from '../../chat-answer.ts'
import { reasoningDetail } from '../../chat-request.ts'

// A reasoning item carries a detail that its provider needs back in `encrypted_content`, as JSON: callers of this wire
// return the item unchanged and read its summary alone. What is secret in a detail is already sealed.

export function encryptedContentOf(detail: ReasoningDetail): string {
  return JSON.stringify(detail)
}

/** Returns null for an item without a detail, or with one that was not written here: another model thought it. */
export function detailOfItem(item: { encrypted_content?: string | null | undefined }): ReasoningDetail | null {
  try {
    const parsed = reasoningDetail.safeParse(JSON.parse(item.encrypted_content ?? ''))
    return parsed.success ? (parsed.data as ReasoningDetail) : null
  } catch {
    return null
  }
}
