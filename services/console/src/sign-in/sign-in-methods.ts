import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'

/** GET /api/v2/session: how one signs in here, and where the models are; for the page, which knows no one yet. */
export function readSignInMethods({
  publicUrl,
  provider,
}: Pick<ConsoleDeps, 'publicUrl' | 'provider'>): Handler<'readSignInMethods'> {
  return (_call, res) => {
    res.json({
      baseUrl: publicUrl ?? null,
      provider: provider === undefined ? null : { path: '/api/v2/session/oidc', isReached: provider.isReached() },
    })
  }
}
