import type { TokenPermission } from '@gateway/api/console/access-tokens'
import { refuse } from '@gateway/api/refusal'
import type { Response } from 'express'

/**
 * Caller of a request: a signed-in user, or a program with a token of an organization or project. Permissions follow
 * from their roles (permissions/roles.ts), and the audit records their actions under their ID.
 */
export interface User {
  id: string
  /** Empty for a token. */
  email: string
  name: string
  /** False for a personal token without the scope `operator`. */
  platformOperator: boolean
  /** Whether the session, or the one that created the personal token, had a second factor. True for a program. */
  secondFactor: boolean
  /** ID of the session of the request. Absent for tokens. */
  session?: string
  /** The personal token of the request. */
  personal?: PersonalToken
  /** Absent for a user. */
  token?: TokenScope
}

export interface PersonalToken {
  id: string
  scopes: readonly string[]
  expiresAt: Date
}

/** Scope and permissions of a token. */
export interface TokenScope {
  tenant: string
  /** null: the whole organization. */
  project: string | null
  permissions: readonly TokenPermission[]
}

/** Prefix of the ids of organization and project tokens. */
export const ACCESS_TOKEN = 'atk'

/** Whether `authenticate` has admitted the request. */
export function isSignedIn(res: Pick<Response, 'locals'>): boolean {
  return res.locals['user'] !== undefined
}

/** Returns the user set by `authenticate`, which must run before. */
export function userOf(res: Pick<Response, 'locals'>): User {
  return res.locals['user'] as User
}

/**
 * Same as `userOf`, but refuses tokens, for operations on the user themselves.
 * @throws Refusal `not_permitted`
 */
export function onlyUserOf(res: Pick<Response, 'locals'>): User {
  const user = userOf(res)
  if (user.token) throw refuse('not_permitted', { need: 'a personal token or a session' })
  return user
}

/**
 * Returns the user and the session of the request, for operations that no token may perform.
 * @throws Refusal `session_required`
 */
export function sessionOf(res: Pick<Response, 'locals'>): User & { session: string } {
  const user = userOf(res)
  if (user.session === undefined) throw refuse('session_required', {})
  return { ...user, session: user.session }
}
