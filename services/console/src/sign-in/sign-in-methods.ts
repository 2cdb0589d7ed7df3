import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'

/** GET /api/v2/session: sign-in methods and base URL of the models, for the page before sign-in. */
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
