import { pageAddress } from '@gateway/console-page/built-page'
import { isConsoleAddress } from '@gateway/api/console/console-address'
import type { ConsoleDeps } from '../../deps.ts'
import { cookie, type Cookie } from '../cookie.ts'

/** Cookie content during a sign-in: ties the provider's response to this browser, request and code. */
export interface BegunSignIn {
  state: string
  nonce: string
  /** PKCE verifier: the code is useless without it. */
  verifier: string
  /** Console address at which the sign-in started. */
  returnTo: string
}

export const MAX_MS = 600_000

/** `Lax`, because the browser returns from another site. */
export const begunCookie = (publicUrl: string): Cookie => cookie('svc_sign_in', 'lax', publicUrl)

export function beginSignIn({ random }: Pick<ConsoleDeps, 'random'>, returnTo: string): BegunSignIn {
  const secret = () => Buffer.from(random(32)).toString('base64url')
  return { state: secret(), nonce: secret(), verifier: secret(), returnTo }
}

export function written({ state, nonce, verifier, returnTo }: BegunSignIn): string {
  return [state, nonce, verifier, Buffer.from(returnTo).toString('base64url')].join('.')
}

export function readBegun(text: string | null): BegunSignIn | null {
  const [, state, nonce, verifier, address] = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.([\w-]+)$/.exec(text ?? '') ?? []
  if (!state || !nonce || !verifier || !address) return null
  const returnTo = Buffer.from(address, 'base64url').toString()
  // Over plain http another host under the same domain could have set the cookie.
  return { state, nonce, verifier, returnTo: isConsoleAddress(returnTo) ? returnTo : pageAddress }
}
