import type { ApiRoute } from '@gateway/api/api-route'
import { holdsScope } from '@gateway/api/console/scopes'
import { refuse } from '@gateway/api/refusal'
import type { PersonalToken, User } from './user.ts'

// What a personal token may do (rules §7.10).
//   S1  A personal token needs every scope of the row of its operation. Rows that hand out what outlives a token, such
//       as other tokens, take a session.
//   S2  Without the scope `operator` it acts as a user without the platform operator role (authenticate.ts).
//   S3  A key, service token or invitation that is created with it ends with it: at its planned expiry (`boundedExpiry`),
//       or when it is deleted before that (end-credentials.ts).

/**
 * S1
 * @throws Refusal `session_required`, `scope_missing`
 */
export function requireScopes({ scopes = [] }: Pick<ApiRoute, 'scopes'>, { session, personal }: User): void {
  if (scopes === 'session') {
    if (session === undefined) throw refuse('session_required', {})
    return
  }
  if (personal === undefined) return
  const missing = scopes.filter((scope) => !holdsScope(personal.scopes, scope))
  if (missing.length > 0)
    throw refuse('scope_missing', { scopes: missing.join(' and ') }, { details: { scopes: missing } })
}

/** S3: returns when a credential ends that is created with this token, if any. */
export function boundedExpiry(personal: PersonalToken | undefined, expiresAt: Date): Date {
  return personal !== undefined && personal.expiresAt < expiresAt ? personal.expiresAt : expiresAt
}
