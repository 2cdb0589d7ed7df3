import type { AccessTokenRecord } from '@gateway/api/console/access-tokens'
import type { TokenRecord } from '@gateway/api/console/sign-in'

/** Token in a list. A personal token has scopes instead of permissions, and no creator. */
export type ShownToken = Pick<TokenRecord, 'id' | 'name' | 'prefix' | 'createdAt' | 'expiresAt'> &
  Pick<AccessTokenRecord, 'permissions'> &
  Partial<Pick<AccessTokenRecord, 'createdBy' | 'project'>>

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
  /** Heading of the permissions. */
  label: 'Permissions' | 'Scopes'
  /** Selectable permissions with their labels. */
  permissions: Readonly<Record<string, string>>
}
