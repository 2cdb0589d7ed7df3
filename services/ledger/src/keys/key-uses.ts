import type { Database } from '@gateway/database/client'

/** Notes when keys were last used: gathered here and written now and then, so that no admission pays for it. */
export function openKeyUses({ prisma }: Pick<Database, 'prisma'>) {
  const used = new Set<string>()
  return {
    note: (key: string): void => void used.add(key),
    write: async (): Promise<void> => {
      const keys = [...used].toSorted()
      used.clear()
      if (keys.length === 0) return
      await prisma.$executeRaw`
        INSERT INTO money.key_uses AS u (key, last_used_at) SELECT unnest(${keys}::text[]), clock_timestamp()
        ON CONFLICT (key) DO UPDATE SET last_used_at = excluded.last_used_at`
    },
  }
}
