import { buildAuthorizationUrl, calculatePKCECodeChallenge } from 'openid-client'
import type { ConsoleDeps } from '../../deps.ts'
import type { Handler } from '../../request/call.ts'
import { pageAddress } from '@gateway/console-page/built-page'
import { expectBrowser } from '../../page/console-page.ts'
import { begunCookie, beginSignIn, MAX_MS, written } from './pending-sign-in.ts'
import type { SignInProvider } from './sign-in-provider.ts'

/** GET /api/v2/session/oidc: redirects to the provider (authorization code with PKCE) and stores the return address. */
export function oidcRedirect(
  deps: Pick<ConsoleDeps, 'random'> & { publicUrl: string; provider: SignInProvider },
): Handler<'oidcRedirect'> {
  const { provider, publicUrl } = deps
  const begun = begunCookie(publicUrl)
  return async (call, res) => {
    const { req } = call
    expectBrowser(req, res)
    const { returnTo = pageAddress } = call.query()
    expectBrowser(req, res, returnTo)
    const configuration = provider.configuration()
    const signIn = beginSignIn(deps, returnTo)
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: provider.callbackUrl,
      scope: 'openid email profile',
      state: signIn.state,
      nonce: signIn.nonce,
      code_challenge: await calculatePKCECodeChallenge(signIn.verifier),
      code_challenge_method: 'S256',
    })
    begun.set(req, res, written(signIn), MAX_MS)
    res.redirect(303, url.href)
  }
}
