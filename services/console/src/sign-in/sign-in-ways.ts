import type { RequestHandler } from 'express'
import type { SignInMethods } from '@gateway/contracts/console/sign-in'
import type { ConsoleDeps } from '../needs.ts'

/** GET /api/v2/session: how one signs in here, and where the models are; for the page, which knows nobody yet. */
export function readSignInMethods({
  publicUrl,
  provider,
}: Pick<ConsoleDeps, 'publicUrl' | 'provider'>): RequestHandler {
  return (_req, res) => {
    const ways: SignInMethods = {
      baseUrl: publicUrl ?? null,
      provider: provider === undefined ? null : { path: '/api/v2/session/oidc', isReached: provider.isReached() },
    }
    res.json(ways)
  }
}
