import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import type { DeliveryRecord, TakenMail, EventNotices } from '@gateway/ledger-protocol/ledger-reads'
import type { Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { reasonOf, type Mailer } from '../mail/mailer.ts'
import type { z } from 'zod'
import type { noticeDetails } from '@gateway/api/console/notices'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'log' | 'publicUrl' | 'now'> & { mailer: Mailer }

/**
 * A mail that the server takes for some recipients and refuses for others for now is sent to all again up to this try, four
 * hours after the first: longer than greylisting takes, and so also after an outage of the server.
 */
const MAX_TRIES_FOR_ALL = 7

/**
 * Mails the notices that are due by mail, each as one mail to all of its recipients (money §10.2). The ledger keeps the
 * deliveries and counts their tries. Returns the number of tries: 0, to try later, while the ledger cannot be reached.
 */
export async function mailNotices(deps: Deps): Promise<number> {
  try {
    const { mails } = await deps.ledger.takeMails({})
    if (mails.length === 0) return 0
    const deliveries = await Promise.all(
      mails.map(async (mail) => {
        const { notice, webhook, tries } = mail
        return { notice, webhook, tries, posted: await mailNotice(deps, mail) }
      }),
    )
    await deps.ledger.recordDeliveries({ deliveries })
    return deliveries.length
  } catch (error) {
    if (error instanceof LedgerUnavailable) return 0
    throw error
  }
}

async function mailNotice(
  { prisma, mailer, log, publicUrl, now }: Deps,
  { notice, webhook, project, recipient, tries, subject, lines }: TakenMail,
): Promise<DeliveryRecord['posted']> {
  const facts = await prisma.project.findUnique({ where: { id: project } })
  const to = await recipientsOf(prisma, project, recipient)
  if (facts === null || to.length === 0) return { error: 'no_recipient' }
  const link = `${publicUrl}/console/projects/${facts.tenant}/${project}/notices`
  try {
    const text = `${lines.join('\n')}\n\nAlerts and who gets them:\n${link}\n`
    const hour = now().toISOString().slice(0, 13) // a mail that a user has resent later is another one
    const { deferred } = await mailer.send({ to, subject, text, id: `${notice}.${webhook}.${hour}` })
    if (deferred.length === 0) return { mailed: true }
    const isLast = tries >= MAX_TRIES_FOR_ALL
    const next = isLast ? 'it is not tried again' : 'it is tried again for all'
    log.warn({ webhook, tries, reasons: deferred }, `an alert was not mailed to every recipient; ${next}`)
    return isLast ? { mailed: true } : { error: 'not_mailed' }
  } catch (error) {
    log.warn({ webhook, tries, reason: reasonOf(error) }, 'an alert was not mailed; it is tried again')
    return { error: 'not_mailed' }
  }
}

/**
 * Returns the emails of a user, or of the Project Owners, who have a role on the project now and may sign in.
 * @param user null: the Project Owners
 */
export async function recipientsOf(prisma: Transaction, project: string, user: string | null): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ email: string }[]>`
    SELECT u.email
      FROM control.projects p
      JOIN control.project_grants g ON g.project = p.id
      JOIN control.memberships m ON m.tenant = p.tenant AND m.user_id = g.user_id AND m.suspended_at IS NULL
      JOIN control.users u ON u.id = g.user_id AND u.disabled_at IS NULL
     WHERE p.id = ${project}
       AND CASE WHEN ${user}::text IS NULL THEN g.role = 'Project Owner' ELSE u.id = ${user} END
     ORDER BY u.email`
  return rows.map(({ email }) => email)
}

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
