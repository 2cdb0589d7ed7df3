import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { hasTicket } from './complete-sign-in.ts'

/** GET /api/v2/session: sign-in methods and base URL of the models, for the page before sign-in. */
export function readSignInMethods(
  deps: Pick<ConsoleDeps, 'prisma' | 'now' | 'publicUrl' | 'provider' | 'mails'>,
): Handler<'readSignInMethods'> {
  const { publicUrl, provider, mails } = deps
  return async ({ req }, res) => {
    res.json({
      baseUrl: publicUrl ?? null,
      provider: provider === undefined ? null : { path: '/api/v2/session/oidc', isReached: provider.isReached() },
      secondFactor: await hasTicket(deps, req),
      sendsMail: mails.areSent,
    })
  }
}
