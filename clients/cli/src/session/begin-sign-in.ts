import { createHash, randomBytes } from 'node:crypto'

/** A sign-in that was begun here, and is confirmed by a user in their browser (PKCE, RFC 7636). */
export interface BegunSignIn {
  /** Stays here: without it the code is worth nothing. */
  verifier: string
  /** Comes back with the code, so that nothing else is taken for it. */
  state: string
  /** Where the user confirms it. @param port on which the browser brings the code here; null: the page shows the code */
  link(port: number | null): string
}

/** @param url where the gateway is  @param name what the token is to be called */
export function beginSignIn(url: string, name: string): BegunSignIn {
  const verifier = secret()
  const state = secret()
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return {
    verifier,
    state,
    link(port) {
      const query = new URLSearchParams({ challenge, name })
      if (port !== null) query.set('port', String(port))
      if (port !== null) query.set('state', state)
      return `${url}/console/account/command-line?${query.toString()}`
    },
  }
}

const secret = () => randomBytes(32).toString('base64url')
