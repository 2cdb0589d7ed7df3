import type { AccessTokenRecord } from '@gateway/api/console/access-tokens'
import type { TokenRecord } from '@gateway/api/console/sign-in'

/** Token in a list. A personal token has all permissions of its user and lists none. */
export type ShownToken = TokenRecord & Partial<Pick<AccessTokenRecord, 'permissions' | 'createdBy' | 'project'>>

export interface NewToken {
  name: string
  expiresInDays: number
  permissions: string[]
}

/** Owner of tokens: a user, a project or an organization. */
export interface TokenScope {
  tokens: ShownToken[] | undefined
  error: unknown
  /** Where a token works, if not all work in the same place. */
  placeOf?: (token: ShownToken) => string
  create(token: NewToken, idempotencyKey: string): Promise<{ secret: string | null; resolution?: string | undefined }>
  remove(token: string): Promise<unknown>
  /** Selectable permissions with their labels; null if a token doesn't list any. */
  permissions: Readonly<Record<string, string>> | null
}
