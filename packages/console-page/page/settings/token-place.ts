import type { AccessTokenRecord } from '@gateway/api/console/access-tokens'
import type { TokenRecord } from '@gateway/api/console/sign-in'

/** A token as a list shows it: a person's own may do all that the person may, and lists nothing. */
export type ShownToken = TokenRecord & Partial<Pick<AccessTokenRecord, 'permissions' | 'createdBy'>>

export interface NewToken {
  name: string
  expiresInDays: number
  permissions: string[]
}

/** Where tokens are made and deleted: of a person, of a project or of an organization. */
export interface TokenPlace {
  tokens: ShownToken[] | undefined
  error: unknown
  create(token: NewToken, idempotencyKey: string): Promise<{ secret: string | null; resolution?: string | undefined }>
  remove(token: string): Promise<unknown>
  /** What a token may be allowed, in words; null: it is not chosen. */
  permissions: Readonly<Record<string, string>> | null
}
