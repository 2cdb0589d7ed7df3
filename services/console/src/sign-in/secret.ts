import { createHash } from 'node:crypto'
import { makeSecret, SHOWN_CHARACTERS } from '@gateway/api/ids'

export interface IssuedSecret {
  /** Shown once, never stored. */
  secret: string
  /** SHA-256, the only stored form. */
  hash: Uint8Array<ArrayBuffer>
  /** Shown in lists. */
  prefix: string
}

/** Generates the secret of a key or token. */
export function issueSecret(
  prefix: Parameters<typeof makeSecret>[0],
  { random }: { random: (bytes: number) => Uint8Array<ArrayBuffer> },
): IssuedSecret {
  const secret = makeSecret(prefix, random(32))
  return { secret, hash: hashOf(secret), prefix: secret.slice(0, SHOWN_CHARACTERS) }
}

export function hashOf(secret: string): Uint8Array<ArrayBuffer> {
  return createHash('sha256').update(secret).digest()
}
