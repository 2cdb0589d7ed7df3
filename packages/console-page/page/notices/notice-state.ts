import type { KeyRecord } from '@gateway/contracts/console/keys'
import type { NoticeRecord } from '@gateway/contracts/console/notices'

/** What is so now, as far as it is known. */
export interface NoticeFacts {
  /** What was funded less what was charged; null: not read. */
  remainingMicro: number | null
  /** For how many days it lasts at the pace of seven; null: not read, or nothing is spent. */
  daysLeft: number | null
  keys: Pick<KeyRecord, 'id' | 'state' | 'window' | 'limit'>[]
}

/** The ids of those notices whose threshold is still crossed. One that was told again since is told by the newer one. */
export function openNotices(newestFirst: NoticeRecord[], facts: NoticeFacts): Set<string> {
  const seen = new Set<string>()
  const open = newestFirst.filter((notice) => {
    const crossing = [notice.kind, notice.threshold, notice.key].join(' ')
    const isNewest = !seen.has(crossing)
    seen.add(crossing)
    return isNewest && isCrossed(notice, facts)
  })
  return new Set(open.map(({ id }) => id))
}

function isCrossed({ kind, threshold, key: id, windowStart }: NoticeRecord, facts: NoticeFacts): boolean {
  switch (kind) {
    case 'wallet.below':
      return facts.remainingMicro !== null && facts.remainingMicro < threshold
    case 'wallet.days_left':
      return facts.daysLeft !== null && facts.daysLeft < threshold
    case 'key.percent': {
      const key = facts.keys.find((each) => each.id === id)
      if (!key?.window || !key.limit || key.state !== 'Active') return false
      const isSameWindow = key.window.startsAt === null || key.window.startsAt === windowStart
      return isSameWindow && key.window.spentMicro * 100 >= key.limit.micro * threshold
    }
  }
}
