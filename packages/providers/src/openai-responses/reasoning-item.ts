import type { ReasoningDetail } from '@gateway/api/chat-answer'
import { type Fields, fieldsOf, list, parseUntrusted, text, UnfitAnswer } from '../untrusted.ts'
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

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

// Some providers sign the reasoning of a model and accept it back only with the signature. A signature identifies the
// provider, so callers get it sealed, in `reasoning_details` of the response, and send it back unchanged
// (docs/providers.md).
//   R1  A sealed value reveals neither the provider nor its model.
//   R2  It opens only for the provider it came from, if it is unchanged and with the text that it signs. A value that
//       does not open is dropped: a conversation may continue with another model, or after the provider's key changed.

export interface ReasoningSeal {
  /** @param context what it is bound to, such as the signed text; must be the same when opened */
  seal(signature: string, context: string): string
  /** Returns null if it is from another provider or was changed. */
  open(sealed: string, context: string): string | null
}

const nonceBytes = 12
const tagBytes = 16

/**
 * The encryption key is derived from the provider's API key, which every replica that calls it has. Without an API key
 * the seal only obscures the value.
 */
export function reasoningSeal({ apiKey, baseUrl }: { apiKey?: string | undefined; baseUrl: string }): ReasoningSeal {
  const key = Buffer.from(hkdfSync('sha256', apiKey ?? baseUrl, '', 'reasoning of a model', 32))
  return {
    seal(signature, context) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      return Buffer.concat([nonce, cipher.update(signature), cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < nonceBytes + tagBytes) return null
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes))
      try {
        return decipher.update(bytes.subarray(nonceBytes, -tagBytes)).toString() + decipher.final().toString()
      } catch {
        return null
      }
    },
  }
}
