import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

// Some providers sign what a model has thought, and take it back under their signature only. A signature tells whose it
// is, so a caller gets it sealed, in `reasoning_details` of the answer, and sends it back as it came (docs/providers.md).
//   R1  What is sealed for a caller says nothing: neither the provider nor the model there.
//   R2  It opens for the provider that it came from, unchanged and alongside the text that it signs. Anything else does not open,
//       and is left out: a conversation may continue with another model, and after the provider's key has changed.

export interface ReasoningSeal {
  /** @param alongside what it belongs to, such as the text that was signed; it must be the same again */
  seal(signature: string, context: string): string
  /** null: it isn't this provider's, or something about it was changed. */
  open(sealed: string, context: string): string | null
}

const nonceBytes = 12
const tagBytes = 16

/**
 * The key comes from the key of the provider, which every replica that calls it has. Of a provider without one the seal
 * only hides what a look would tell.
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
