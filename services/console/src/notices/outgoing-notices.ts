import type { z } from 'zod'
import type { noticeDetails } from '@gateway/api/console/notices'
import type { EventNotices } from '@gateway/ledger-protocol/ledger-reads'
import type { Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'

// Notices of what happened to keys and tokens (money §10.1). The ledger writes notices and sends them to webhooks.
//   N1  A notice is stored in the transaction of its change, so that no change goes without one.
//   N2  Every console hands over what is stored, oldest first, and deletes it once the ledger has it. The ledger ignores
//       an id that it knows, so two consoles, or a repeat after a lost answer, write a notice once.

type Notice = Omit<EventNotices['notices'][number], 'at' | 'details'> & { details: z.infer<typeof noticeDetails> }

const BATCH_SIZE = 100

/** Stores a notice with the change that it is about, unless one is stored under its id. N1 */
export async function addNotice(tx: Transaction, notice: Notice): Promise<void> {
  await tx.outgoingNotice.createMany({ data: [notice], skipDuplicates: true })
}

/** Hands stored notices to the ledger. Returns their number. N2 */
export async function handOverNotices({ prisma, ledger }: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Promise<number> {
  const rows = await prisma.outgoingNotice.findMany({ orderBy: [{ at: 'asc' }, { id: 'asc' }], take: BATCH_SIZE })
  if (rows.length === 0) return 0
  const notices = rows.map(
    ({ at, ...notice }) => ({ ...notice, at: at.toISOString() }) as EventNotices['notices'][number],
  )
  await ledger.writeNotices({ notices })
  await prisma.outgoingNotice.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } })
  return rows.length
}
