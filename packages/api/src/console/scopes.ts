import { z } from 'zod'

// Scopes of a personal token (rules §7.10). A token may do what its user may, in the areas it lists and nowhere else.
// What an operation requires stands once, in its row (api/api-route.ts).

/** Areas of the console API, in the order in which a user sees them. */
export const scopeAreas = [
  'flows',
  'assets',
  'keys',
  'money',
  'notices',
  'projects',
  'catalogue',
  'organization',
  'tokens',
  'account',
] as const
export type ScopeArea = (typeof scopeAreas)[number]

/** `operator`: the token has the platform operator role of its user, in the areas that it lists. */
export type Scope = `${ScopeArea}:${'read' | 'write'}` | 'operator'

export const readScopes: readonly Scope[] = scopeAreas.map((area) => `${area}:read` as const)
/** Everything a user may do without the platform operator role. */
export const userScopes: readonly Scope[] = scopeAreas.map((area) => `${area}:write` as const)

export const scope = z.enum(['operator', ...readScopes, ...userScopes])

/** Whether a token with these scopes has another one: `keys:write` includes `keys:read`. */
export function holdsScope(held: readonly string[], needed: Scope): boolean {
  return held.includes(needed) || (needed.endsWith(':read') && held.includes(needed.replace(/:read$/, ':write')))
}
