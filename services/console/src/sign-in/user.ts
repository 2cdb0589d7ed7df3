import type { TokenPermission } from '@gateway/api/console/access-tokens'
import { refuse } from '@gateway/api/refusal'
import type { Response } from 'express'

/**
 * Who asks: someone who is signed in, or a program with a token of an organization or project. What either may do follows from their
 * roles (permissions/roles.ts), and what they did is under their id in the audit.
 */
export interface User {
  id: string
  /** Empty: a token. */
  email: string
  name: string
  platformOperator: boolean
  /** Absent: a user. */
  token?: TokenScope
}

/** Where a token is of any use, and for what. */
export interface TokenScope {
  tenant: string
  /** null: the whole organization. */
  project: string | null
  permissions: readonly TokenPermission[]
}

/** What the ids of tokens of organizations and projects begin with. */
export const ACCESS_TOKEN = 'atk'

/** Whether `authenticate` has let someone through. */
export function isSignedIn(res: Pick<Response, 'locals'>): boolean {
  return res.locals['user'] !== undefined
}

/** Only behind `authenticate`, which puts it there. */
export function userOf(res: Pick<Response, 'locals'>): User {
  return res.locals['user'] as User
}

/**
 * The same where it is about the user themselves, which no token is.
 * @throws Refusal `not_permitted`
 */
export function onlyUserOf(res: Pick<Response, 'locals'>): User {
  const user = userOf(res)
  if (user.token) throw refuse('not_permitted', { need: 'a personal token or a session' })
  return user
}
