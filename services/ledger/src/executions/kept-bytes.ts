import type { Deps, KeptBytes } from '../deps.ts'

/**
 * Counts the bytes of values that executions of each project keep, by day: collected here and written periodically, so
 * that no node pays for it. A killed process loses the seconds it had collected.
 */
export function openKeptBytes({ reads: { prisma } }: Pick<Deps, 'reads'>): KeptBytes {
  let noted = new Map<string, number>()
  const note = (project: string, bytes: number) => {
    if (bytes > 0) noted.set(project, (noted.get(project) ?? 0) + bytes)
  }
  return {
    note,
    async write() {
      if (noted.size === 0) return
      const writing = noted
      noted = new Map()
      const projects = [...writing.keys()].toSorted()
      const bytes = projects.map((project) => writing.get(project)!)
      try {
        await prisma.$executeRaw`
          INSERT INTO money.execution_usage AS u (project, day, bytes)
          SELECT n.project, (now() AT TIME ZONE 'UTC')::date, n.bytes
            FROM unnest(${projects}::text[], ${bytes}::bigint[]) AS n (project, bytes)
              ON CONFLICT (project, day) DO UPDATE SET bytes = u.bytes + excluded.bytes`
      } catch (error) {
        for (const [project, more] of writing) note(project, more)
        throw error
      }
    },
  }
}
