import type { Transaction } from '../audit/record-change.ts'

/** Whether an owner is left who is a member: a grant has no effect without membership. */
export async function hasOwner(prisma: Transaction, tenant: string, project: string): Promise<boolean> {
  const owners = await prisma.projectGrant.findMany({
    where: { project, role: 'Project Owner' },
    select: { user: true },
  })
  const users = owners.map(({ user }) => user)
  return (await prisma.membership.count({ where: { tenant, user: { in: users } } })) > 0
}

/** Notes that users are no longer owners of projects, in the transaction that takes the role from them. */
export async function noteFormerOwners(tx: Transaction, grants: { project: string; user: string; role: string }[]) {
  const ended = grants.filter(({ role }) => role === 'Project Owner').map(({ project, user }) => ({ project, user }))
  await tx.formerOwner.createMany({ data: ended, skipDuplicates: true })
}
