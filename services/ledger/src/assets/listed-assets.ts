import type { Database } from '@gateway/database/client'

/**
 * Returns the assets that a key may read or name in a call: for a `listed` key, not what executions outside its list have
 * made (flows §4.7).
 */
export async function listedAssets<Asset extends { execution: string | null }>(
  { prisma }: Pick<Database, 'prisma'>,
  key: string,
  assets: readonly Asset[],
): Promise<Asset[]> {
  const executions = assets.flatMap(({ execution }) => execution ?? [])
  if (executions.length === 0) return [...assets]
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT x.id FROM control.keys k
     CROSS JOIN unnest(${executions}::text[]) x (id)
      LEFT JOIN money.executions e ON e.id = x.id
     WHERE k.id = ${key} AND money.unlisted_resource(k.id, k.policy, coalesce(e.sandbox, ''), '{}') IS NULL`
  const listed = new Set(rows.map(({ id }) => id))
  return assets.filter(({ execution }) => execution === null || listed.has(execution))
}
