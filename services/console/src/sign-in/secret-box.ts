import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

// Encrypts secrets that must be read again, for storage: AES-256-GCM under a key derived from SECOND_FACTOR_KEY. A
// sealed secret opens only for the owner it was sealed for, so a row copied to another user is useless.

export interface SecretBox {
  seal(secret: Uint8Array, owner: string): Uint8Array<ArrayBuffer>
  /** @throws Error if none of the keys has sealed it */
  open(sealed: Uint8Array, owner: string): Uint8Array<ArrayBuffer>
}

interface Options {
  key: string
  /** The key before it, with which older secrets were sealed. */
  previousKey: string | undefined
  random: (bytes: number) => Uint8Array<ArrayBuffer>
}

const IV_BYTES = 12
const TAG_BYTES = 16

export function openSecretBox({ key, previousKey, random }: Options): SecretBox {
  const keys = [key, ...(previousKey === undefined ? [] : [previousKey])].map(derived)

  function unsealed(key: Uint8Array, sealed: Uint8Array, owner: string): Uint8Array<ArrayBuffer> | null {
    const [iv, text, tag] = [
      sealed.subarray(0, IV_BYTES),
      sealed.subarray(IV_BYTES, -TAG_BYTES),
      sealed.subarray(-TAG_BYTES),
    ]
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(owner)).setAuthTag(tag)
    const secret = decipher.update(text)
    try {
      return new Uint8Array(Buffer.concat([secret, decipher.final()]))
    } catch {
      return null
    }
  }

  return {
    seal(secret, owner) {
      const iv = random(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keys[0]!, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(owner))
      const text = Buffer.concat([cipher.update(secret), cipher.final()])
      return new Uint8Array(Buffer.concat([iv, text, cipher.getAuthTag()]))
    },
    open(sealed, owner) {
      for (const key of keys) {
        const secret = unsealed(key, sealed, owner)
        if (secret !== null) return secret
      }
      throw new Error('a stored second factor was sealed with another SECOND_FACTOR_KEY')
    },
  }
}

function derived(key: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, '', 'second factors', 32))
}
