import { createHash, randomBytes } from 'node:crypto'

/** A sign-in that was started here and that a user confirms in their browser (PKCE, RFC 7636). */
export interface BegunSignIn {
  /** Stays here: without it the code is worthless. */
  verifier: string
  /** Returned with the code, so that no other code is accepted. */
  state: string
  /** Where the user confirms it. @param port to which the browser sends the code; null: the page shows the code */
  link(port: number | null): string
}

/** @param url of the gateway  @param name of the token */
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
