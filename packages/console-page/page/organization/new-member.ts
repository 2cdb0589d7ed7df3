import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import type { TenantRole } from '@gateway/api/console/fields'

/** Form values of a new member. */
export interface MemberDraft {
  by: 'email' | 'user'
  email: string
  name: string
  password: string
  user: string
  role: TenantRole
}

export const emptyMember: MemberDraft = { by: 'email', email: '', name: '', password: '', user: '', role: 'Member' }

/** Request body for a draft. With a user ID, only the role is sent in addition. */
export function bodyOfMember({
  by,
  email,
  name,
  password,
  user,
  role,
}: MemberDraft): BodyOf<ConsoleRoutes['setMember']> {
  if (by === 'user') return { user: user.trim(), role }
  return { email, role, ...(name.trim() !== '' && { name }), ...(password !== '' && { password }) }
}
