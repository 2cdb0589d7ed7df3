import type { ConsoleDeps } from '../deps.ts'

interface RoleRow<Role> {
  person: string
  role: string
  createdAt: Date
  /** Only for its type. */
  as?: Role
}

interface PersonWithRole<Role> {
  id: string
  email: string
  name: string
  role: Role
  createdAt: string
}

/** Rows that give a person a role, shown with who that is. */
export async function peopleOf<Role extends string>(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  rows: RoleRow<Role>[],
): Promise<PersonWithRole<Role>[]> {
  const people = await prisma.person.findMany({
    where: { id: { in: rows.map(({ person }) => person) } },
    select: { id: true, email: true, name: true },
  })
  const byId = new Map(people.map((person) => [person.id, person]))
  return rows.map(({ person, role, createdAt }) => {
    return { ...byId.get(person)!, role: role as Role, createdAt: createdAt.toISOString() }
  })
}
