import type { Deps, KeyUses } from '../deps.ts'

/** Notes when keys were last used: gathered here and written now and then, so that no admission pays for it. */
export function openKeyUses({ reads: { prisma } }: Pick<Deps, 'reads'>): KeyUses {
  let used = new Set<string>()
  return {
    note: (key) => void used.add(key),
    async write() {
      if (used.size === 0) return
      const writing = used
      used = new Set()
      try {
        await prisma.$executeRaw`
          INSERT INTO money.key_uses AS u (key, last_used_at) SELECT unnest(${[...writing].toSorted()}::text[]), clock_timestamp()
          ON CONFLICT (key) DO UPDATE SET last_used_at = excluded.last_used_at`
      } catch (error) {
        used = used.union(writing)
        throw error
      }
    },
  }
}
