import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

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
