import type { ReasoningDetail } from '@gateway/api/chat-answer'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { type Fields, fieldsOf, list, parseUntrusted, text, UnfitAnswer } from '../untrusted.ts'

// A reasoning item of a response is needed in the next request, unchanged and before the item that it led to. Callers
// get it as one sealed detail.

/** An item as it is sent back. */
export interface ReasoningItem {
  type: 'reasoning'
  id: string
  summary: { type: 'summary_text'; text: string }[]
  encrypted_content: string
}

type EncryptedDetail = Extract<ReasoningDetail, { type: 'reasoning.encrypted' }>

const mostSummaryParts = 1_000

/** Returns the detail of an item, or null if the item can't be sent back. Throws `UnfitAnswer`. */
export function sealedItem(item: Fields, { seal }: ReasoningSeal): EncryptedDetail | null {
  const { id, encrypted_content: encrypted } = item
  if (typeof id !== 'string' || typeof encrypted !== 'string' || encrypted === '') return null
  return { type: 'reasoning.encrypted', data: seal(JSON.stringify({ id, summary: summaryOf(item), encrypted }), '') }
}

/** Returns the item of a detail, or null if this provider did not create it. */
export function openedItem({ data }: Pick<EncryptedDetail, 'data'>, { open }: ReasoningSeal): ReasoningItem | null {
  const opened = open(data, '')
  if (opened === null) return null
  try {
    const { id, summary, encrypted } = fieldsOf(parseUntrusted(opened, 'a reasoning item'))
    return {
      type: 'reasoning',
      id: text(id, 'the id'),
      summary: list(summary, mostSummaryParts, 'the summary').map((part) => summaryPart(text(part, 'a part'))),
      encrypted_content: text(encrypted, 'the encrypted content'),
    }
  } catch (error) {
    // The provider's key was used for another wire format before.
    if (error instanceof UnfitAnswer) return null
    throw error
  }
}

function summaryPart(said: string): ReasoningItem['summary'][number] {
  return { type: 'summary_text', text: said }
}

/** Texts of the summary. */
function summaryOf(item: Fields): string[] {
  return list(item['summary'], mostSummaryParts, 'a summary').map((part) => text(fieldsOf(part)['text'], 'a summary'))
}

/** Parts of the reasoning text: the summary, or the reasoning itself, which open models show. */
export function thoughtsOf(item: Fields): string[] {
  const shown = list(item['content'], mostSummaryParts, 'reasoning').map((part) =>
    text(fieldsOf(part)['text'], 'reasoning'),
  )
  return [...summaryOf(item), ...shown]
}
