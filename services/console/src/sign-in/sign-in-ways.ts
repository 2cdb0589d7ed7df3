import type { RequestHandler } from 'express'
import type { SignInWays } from '@gateway/contracts/console'
import type { ConsoleNeeds } from '../needs.ts'

/** GET /api/v2/session: how one signs in here, and where the models are; for the page, which knows nobody yet. */
export function readSignInWays({ publicUrl, provider }: Pick<ConsoleNeeds, 'publicUrl' | 'provider'>): RequestHandler {
  return (_req, res) => {
    const ways: SignInWays = {
      baseUrl: publicUrl ?? null,
      provider: provider === undefined ? null : { path: '/api/v2/session/oidc', isReached: provider.isReached() },
    }
    res.json(ways)
  }
}
