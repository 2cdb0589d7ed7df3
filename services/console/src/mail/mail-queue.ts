import { backOffMs } from '@gateway/service-kit/async/waiting'
import type { Database } from '@gateway/database/client'
import type { Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { linkTo, makeLinkSecret } from '../sign-in/link-secret.ts'
import { hasOnlyProvider, makeReset } from '../sign-in/password-reset.ts'
import { reasonOf, type Mailer, type OutgoingMail } from './mailer.ts'
import type { Mails } from './mails.ts'
import { oneLine } from '@gateway/service-kit/text/redact'

// Sends mails after the change that needs them, outside its transaction.
//   M1  The change writes a row of the queue in its transaction: a mail is neither lost nor sent for a change that
//       failed. One row per kind and subject: asking again replaces it.
//   M2  Each try makes a new secret, so none is stored. If a try fails after the server took the mail, the next mail's
//       link works, and the first one's does not.
//   M3  A replica leases a row for two minutes. A mail is tried 8 times, over about an hour.
//   M4  A try whose row was replaced makes no link and marks nothing as sent: the link that works is in the next mail.

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'now' | 'log' | 'publicUrl'>

interface LeasedMail {
  id: string
  kind: string
  subject: string
  tries: number
}

const LEASE_MS = 120_000
const MAX_TRIES = 8
const BACK_OFF = { firstMs: 10_000, maxMs: 1_800_000 }
const EVERY_MS = 5_000

/** @returns the queue, and what stops it */
export function openMails(deps: Deps, mailer: Mailer | null): { mails: Mails; close: () => Promise<void> } {
  const { newId, now, log } = deps
  const enqueue: Mails['enqueue'] = async (tx, kind, subject) => {
    const dueAt = now()
    const row = { id: newId('mai'), kind, subject, dueAt, createdAt: dueAt }
    const again = { id: row.id, dueAt, tries: 0 } // a new id: a try that is under way deletes only its own row
    await tx.mail.upsert({ where: { kind_subject: { kind, subject } }, create: row, update: again })
  }
  if (mailer === null) return { mails: { areSent: false, enqueue, soon: () => {} }, close: () => Promise.resolve() }

  let isStopped = false
  let isAsked = false
  let running: Promise<void> | null = null
  const soon = () => {
    isAsked = true
    if (isStopped) return
    running ??= drain().finally(() => {
      running = null
      if (isAsked) soon()
    })
  }
  async function drain(): Promise<void> {
    isAsked = false
    try {
      while (!isStopped && (await sendNext(deps, mailer!)));
    } catch (error) {
      log.warn({ err: error }, 'the mail queue could not be read')
    }
  }
  const timer = setInterval(soon, EVERY_MS)
  timer.unref()
  return {
    mails: { areSent: true, enqueue, soon },
    async close() {
      isStopped = true
      clearInterval(timer)
      await running
      mailer.close()
    },
  }
}

/** Sends one due mail. Returns whether there was one. */
async function sendNext(deps: Deps, mailer: Mailer): Promise<boolean> {
  const { prisma, now, log } = deps
  const mail = await lease(prisma, now())
  if (!mail) return false
  const mine = { id: mail.id }
  const written = await prisma.$transaction(async (tx) => {
    const kept = await tx.$queryRaw<unknown[]>`SELECT id FROM control.mails WHERE id = ${mail.id} FOR UPDATE`
    return kept.length === 0 ? null : write(deps, tx, mail) // M4
  })
  if (!written) {
    await prisma.mail.deleteMany({ where: mine })
    return true
  }
  try {
    await mailer.send(written)
  } catch (error) {
    const isLast = mail.tries >= MAX_TRIES
    log.warn(
      { kind: mail.kind, mail: mail.id, tries: mail.tries, reason: reasonOf(error) },
      isLast ? 'a mail was given up' : 'a mail was not sent; it is tried again',
    )
    const dueAt = new Date(now().getTime() + backOffMs(mail.tries, BACK_OFF))
    await (isLast ? prisma.mail.deleteMany({ where: mine }) : prisma.mail.updateMany({ where: mine, data: { dueAt } }))
    return true
  }
  await prisma.$transaction(async (tx) => {
    const { count } = await tx.mail.deleteMany({ where: mine })
    if (count > 0 && mail.kind === 'invitation')
      await tx.invitation.updateMany({ where: { id: mail.subject, byMail: true }, data: { sentAt: now() } }) // M4
  })
  return true
}

/** M3 */
async function lease(prisma: Database['prisma'], now: Date): Promise<LeasedMail | undefined> {
  const until = new Date(now.getTime() + LEASE_MS)
  const [mail] = await prisma.$queryRaw<LeasedMail[]>`
    UPDATE control.mails SET due_at = ${until}, tries = tries + 1
     WHERE id = (SELECT id FROM control.mails WHERE due_at <= ${now} ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id, kind, subject, tries`
  return mail
}

/** Makes the secret and the text (M2); null: there is nothing to send any longer. */
async function write(deps: Deps, tx: Transaction, { kind, subject }: LeasedMail): Promise<OutgoingMail | null> {
  return kind === 'invitation' ? writeInvitation(deps, tx, subject) : writeReset(deps, tx, subject)
}

async function writeInvitation(deps: Deps, tx: Transaction, id: string): Promise<OutgoingMail | null> {
  const { secret, hash } = makeLinkSecret(deps)
  const open = { id, byMail: true, expiresAt: { gt: deps.now() } }
  const { count } = await tx.invitation.updateMany({ where: open, data: { hash } })
  if (count === 0) return null
  const invitation = await tx.invitation.findUniqueOrThrow({ where: { id } })
  const { name: organization } = await tx.tenant.findUniqueOrThrow({ where: { id: invitation.tenant } })
  const inviter = await tx.user.findUnique({ where: { id: invitation.invitedBy }, select: { name: true } })
  const link = linkTo(deps, 'invitation', secret)
  const until = invitation.expiresAt.toISOString()
  const invitedBy = inviter?.name ?? 'An Admin'
  return { to: [invitation.email], ...invitationText({ organization, invitedBy, link, until }) }
}

async function writeReset(deps: Deps, tx: Transaction, email: string): Promise<OutgoingMail | null> {
  const user = await tx.user.findUnique({ where: { email } })
  if (!user) return null
  if (await hasOnlyProvider(tx, user)) return { to: [email], ...noPasswordText({ link: `${deps.publicUrl}/console` }) }
  const { secret, expiresAt } = await makeReset(deps, tx, user.id, { byMail: true })
  return { to: [email], ...resetText({ link: linkTo(deps, 'reset', secret), until: expiresAt.toISOString() }) }
}

// What the service writes. Plain text: links are visible, and no mail program loads anything.

type Text = Omit<OutgoingMail, 'to'>

/** @param until ISO 8601 */
function invitationText({
  organization,
  invitedBy,
  link,
  until,
}: {
  organization: string
  invitedBy: string
  link: string
  until: string
}): Text {
  return {
    subject: `Join ${oneLine(organization)}`,
    text: `${oneLine(invitedBy)} invited you to join the organization ${oneLine(organization)}.

Accept the invitation here:
${link}

The link works once, until ${moment(until)}. If you did not expect this invitation, ignore this mail: nothing happens unless you accept.
`,
  }
}

/** @param until ISO 8601 */
function resetText({ link, until }: { link: string; until: string }): Text {
  return {
    subject: 'Reset your password',
    text: `Someone, probably you, asked to reset the password of your account.

Choose a new password here:
${link}

The link works once, until ${moment(until)}. A reset signs you out everywhere and ends your personal tokens. If you did not ask for it, ignore this mail: your password stays unchanged.
`,
  }
}

/** For users who sign in at a provider. */
function noPasswordText({ link }: { link: string }): Text {
  return {
    subject: 'Sign in through single sign-on',
    text: `Someone, probably you, asked to reset the password of your account. Your account has no password: you sign in through single sign-on.

Sign in here:
${link}
`,
  }
}

function moment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}
