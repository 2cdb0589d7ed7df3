import type { ConsoleDeps } from '../../deps.ts'
import { cookie, type Cookie } from '../session-cookie.ts'

/** What a browser takes along to the provider and back: it ties the answer to this browser, this request and this code. */
export interface BegunSignIn {
  state: string
  nonce: string
  /** Of PKCE: the code alone is worth nothing. */
  verifier: string
}

export const MAX_MS = 600_000

/** `Lax`, because the browser comes back from another site. */
export const begunCookie = (publicUrl: string): Cookie => cookie('svc_sign_in', 'lax', publicUrl)

export function beginSignIn({ random }: Pick<ConsoleDeps, 'random'>): BegunSignIn {
  const secret = () => Buffer.from(random(32)).toString('base64url')
  return { state: secret(), nonce: secret(), verifier: secret() }
}

export function written({ state, nonce, verifier }: BegunSignIn): string {
  return [state, nonce, verifier].join('.')
}

export function readBegun(text: string | null): BegunSignIn | null {
  const [, state, nonce, verifier] = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/.exec(text ?? '') ?? []
  return state && nonce && verifier ? { state, nonce, verifier } : null
}
