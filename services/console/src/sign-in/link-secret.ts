import type { ConsoleDeps } from '../deps.ts'
import { hashOf } from './secret.ts'

// Secrets of links that work once: of invitations and of password resets.
//   L1  Only the hash is stored, and the secret is shown once: in the mail, or to the user who made the link.
//   L2  The secret is the fragment of the address, which browsers send to no server.

export interface LinkSecret {
  secret: string
  hash: Uint8Array<ArrayBuffer>
}

/** 32 random bytes in base64url. */
export function makeLinkSecret({ random }: Pick<ConsoleDeps, 'random'>): LinkSecret {
  const secret = Buffer.from(random(32)).toString('base64url')
  return { secret, hash: hashOf(secret) }
}

export type LinkPage = 'invitation' | 'reset'

/** Address of a page of the console with a secret. Without a public URL it starts at the console's host (L2). */
export function linkTo({ publicUrl = '' }: Pick<ConsoleDeps, 'publicUrl'>, page: LinkPage, secret: string): string {
  return `${publicUrl}/console/${page}#${secret}`
}
