import type { Deps } from '../deps.ts'

interface Named {
  id: string
  project: string
}

/** The projects of open reservations, by id. What has none is not in it. */
export async function projectsOfReservations(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  ids: readonly string[],
): Promise<Map<string, string>> {
  return byId(
    await prisma.$queryRawUnsafe<Named[]>(
      `SELECT id, project FROM money.reservations WHERE id = ANY ($1::text[])`,
      ids,
    ),
  )
}

/** The projects of executions, by id. */
export async function projectsOfExecutions(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  ids: readonly string[],
): Promise<Map<string, string>> {
  return byId(
    await prisma.$queryRawUnsafe<Named[]>(`SELECT id, project FROM money.executions WHERE id = ANY ($1::text[])`, ids),
  )
}

function byId(rows: Named[]): Map<string, string> {
  return new Map(rows.map(({ id, project }) => [id, project]))
}
