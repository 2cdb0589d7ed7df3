import type { Handler } from '../request/call.ts'
import type { ConsoleDeps } from '../deps.ts'
import { refuse } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import { projectsOfKeys } from '../keys/list-keys.ts'
import { authorizeInTenant, changePermissions, passBarrier } from '../permissions/authorize.ts'
import { type User, userOf } from '../sign-in/user.ts'
import { membersOf, stopBeingAdmin } from './members.ts'

// An Admin suspends a membership: it has no effect in the organization, neither for the user nor for keys that they
// created, until it is resumed. The user remains one of the installation and of their other organizations, so their
// sessions and personal tokens do not end. Roles and grants stay: a suspended owner still owns their project, so no
// Admin may appoint another one in their place.

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** POST …/members/{user}/suspend. Repeating it changes nothing. */
export function suspendMember(deps: Deps): Handler<'suspendMember'> {
  return async (call, res) => {
    const [by, tenant, user] = [userOf(res), call.id('tenant'), call.id('user')]
    await authorizeInTenant(deps.prisma, by, tenant, 'users.manage')
    const row = await setSuspended(deps, { by, tenant, user, isSuspended: true })
    await passBarrier(deps, await projectsOfKeys(deps, { tenant, createdBy: user }))
    const [member] = await membersOf(deps, [row], true)
    res.json(member)
  }
}

/** POST …/members/{user}/resume */
export function resumeMember(deps: Deps): Handler<'resumeMember'> {
  return async (call, res) => {
    const [by, tenant, user] = [userOf(res), call.id('tenant'), call.id('user')]
    await authorizeInTenant(deps.prisma, by, tenant, 'users.manage')
    const row = await setSuspended(deps, { by, tenant, user, isSuspended: false })
    const [member] = await membersOf(deps, [row], true)
    res.json(member)
  }
}

interface Suspension {
  by: User
  tenant: string
  user: string
  isSuspended: boolean
}

/** @throws Refusal `not_found`, `last_admin` */
async function setSuspended(deps: Deps, { by, tenant, user, isSuspended }: Suspension) {
  return changePermissions(deps, tenant, async (tx) => {
    await authorizeInTenant(tx, by, tenant, 'users.manage')
    const where = { tenant_user: { tenant, user } }
    const before = await tx.membership.findUnique({ where })
    if (!before) throw refuse('not_found', {})
    if ((before.suspendedAt !== null) === isSuspended) return before
    if (isSuspended && before.role === 'Admin') await stopBeingAdmin(tx, tenant, { user, by: by.id })
    const row = await tx.membership.update({ where, data: { suspendedAt: isSuspended ? new Date() : null } })
    const action = isSuspended ? 'member.suspend' : 'member.resume'
    await recordChange(tx, { tenant, user: by.id, action, subject: user })
    return row
  })
}
