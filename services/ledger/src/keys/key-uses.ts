import type { Deps } from '../deps.ts'

export interface KeyUses {
  note(key: string): void
  /** @throws the error of the database; the uses are kept for the next time */
  write(): Promise<void>
}

/** Notes when keys were last used: gathered here and written now and then, so that no admission pays for it. */
export function openKeyUses({ reads: { prisma } }: Pick<Deps, 'reads'>): KeyUses {
  const used = new Set<string>()
  return {
    note: (key) => void used.add(key),
    async write() {
      const keys = [...used].toSorted()
      used.clear()
      if (keys.length === 0) return
      await prisma.$executeRaw`
        INSERT INTO money.key_uses AS u (key, last_used_at) SELECT unnest(${keys}::text[]), clock_timestamp()
        ON CONFLICT (key) DO UPDATE SET last_used_at = excluded.last_used_at`
    },
  }
}
