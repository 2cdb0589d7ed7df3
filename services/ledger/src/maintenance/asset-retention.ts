import type { Deps } from '../deps.ts'

const MAX_ROWS = 1_000

/** Deletes assets that are older than their project keeps them, some at a time (D1 of delete-asset.ts). */
export async function expireAssets({ reads: { prisma } }: Pick<Deps, 'reads'>) {
  let expired = 0
  for (let part = MAX_ROWS; part === MAX_ROWS; expired += part)
    part = await prisma.$executeRaw`
      UPDATE money.assets SET deleted_at = now() WHERE deleted_at IS NULL AND id = ANY (ARRAY(
        SELECT a.id FROM control.projects p
         CROSS JOIN LATERAL (
           SELECT o.id FROM money.assets o
            WHERE o.project = p.id AND o.deleted_at IS NULL
              AND o.created_at < now() - p.asset_retention_days * interval '1 day'
            ORDER BY o.created_at LIMIT ${MAX_ROWS}::int) a
         WHERE p.asset_retention_days IS NOT NULL LIMIT ${MAX_ROWS}::int))`
  return { expired }
}
