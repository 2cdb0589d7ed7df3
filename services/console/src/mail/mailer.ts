import { createTransport } from 'nodemailer'
import type { ConsoleConfig } from '../config.ts'

export interface OutgoingMail {
  to: string[]
  subject: string
  text: string
  /** What its Message-ID is made of: most mailboxes keep only the first of the mails that share one. */
  id?: string
}

export interface Mailer {
  /**
   * Resolves once the server has taken the mail for at least one recipient. Returns the reasons, one for each recipient
   * that it refuses for now (4xx): sent again, the mail reaches the others twice.
   */
  send(mail: OutgoingMail): Promise<{ deferred: string[] }>
  close(): void
}

type Settings = Pick<ConsoleConfig, 'SMTP_URL' | 'SMTP_TLS' | 'SMTP_TIMEOUT_MS' | 'MAIL_FROM'>

/** Returns null if no mail server is configured. */
export function openMailer({ SMTP_URL, SMTP_TLS, SMTP_TIMEOUT_MS, MAIL_FROM }: Settings): Mailer | null {
  if (SMTP_URL === undefined || MAIL_FROM === undefined) return null
  const sender = MAIL_FROM.replace(/>$/, '').split('@').at(-1)
  const { protocol, hostname, port, username, password } = new URL(SMTP_URL)
  const secure = protocol === 'smtps:'
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: SMTP_TLS === 'required',
    ignoreTLS: SMTP_TLS === 'none',
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text, id }) {
      // Not in the address syntax, where a comma or a group would add recipients.
      const recipients = to.map((address) => ({ name: '', address }))
      const messageId = id === undefined ? {} : { messageId: `<${id}@${sender}>` }
      const mail = { from: MAIL_FROM, to: recipients, subject, text, ...messageId }
      const { rejectedErrors = [] } = await transport.sendMail(mail)
      return { deferred: rejectedErrors.filter(({ responseCode = 0 }) => responseCode < 500).map(reasonOf) }
    },
    close: () => transport.close(),
  }
}

/** Why a mail was not sent, without the text of the mail server, which may repeat addresses. */
export function reasonOf(error: unknown): string {
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  return [code, responseCode].filter((part) => part !== undefined).join(' ') || 'unknown'
}
