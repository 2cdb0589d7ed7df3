import type { KeyRecord, KeyWindow } from '@gateway/contracts/console/keys'

/** What was told, as it is stored. */
export interface ToldNotice {
  id: string
  kind: string
  threshold: bigint
  lineage: string | null
  windowStart: Date | null
}

/** What is so now. Micro-USD. */
export interface NoticeFacts {
  /** What was funded less what was charged. */
  remainingMicro: bigint
  /** What was charged in the last seven days. */
  weekMicro: bigint
  /** By lineage, of its key that works: none where there is none, or where it has no limit. */
  windows: ReadonlyMap<string, { limit: NonNullable<KeyRecord['limit']>; window: KeyWindow }>
}

const WEEK_DAYS = 7n

/** Whether what a notice told is still so (money §10.1). That of a key is, in the window that it was told of. */
export function isCrossed({ kind, threshold, lineage, windowStart }: ToldNotice, facts: NoticeFacts): boolean {
  if (kind === 'wallet.below') return facts.remainingMicro < threshold
  if (kind === 'wallet.days_left') return facts.remainingMicro * WEEK_DAYS < threshold * facts.weekMicro
  const now = lineage === null ? undefined : facts.windows.get(lineage)
  if (!now) return false
  const { startsAt, spentMicro } = now.window
  const isSameWindow = startsAt === null || Date.parse(startsAt) === windowStart?.getTime()
  return isSameWindow && BigInt(spentMicro) * 100n >= BigInt(now.limit.micro) * threshold
}
