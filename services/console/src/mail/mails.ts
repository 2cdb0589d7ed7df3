import type { Transaction } from '../audit/record-change.ts'

export type MailKind = 'invitation' | 'reset'

/** The queue of mails (mail-queue.ts). */
export interface Mails {
  /** Whether a mail server is configured. */
  areSent: boolean
  /** Adds a mail in the transaction of the change that needs it. `subject`: ID of an invitation, email of a reset. */
  enqueue(tx: Transaction, kind: MailKind, subject: string): Promise<void>
  /** Has this replica look for due mails at once. */
  soon(): void
}
