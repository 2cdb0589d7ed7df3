import type { ConsoleDeps } from '../deps.ts'

const MAX_ROWS = 1_000
const KEPT_HOURS = 48

/** Forgets what was made under idempotency keys two days ago, some at a time. Answers how much. */
export function forgetCreations({ prisma }: Pick<ConsoleDeps, 'prisma'>): Promise<number> {
  return prisma.$executeRaw`
    DELETE FROM control.idempotent_creations WHERE (person, key) IN (
      SELECT person, key FROM control.idempotent_creations
       WHERE created_at < now() - ${KEPT_HOURS}::int * interval '1 hour' LIMIT ${MAX_ROWS}::int)`
}
