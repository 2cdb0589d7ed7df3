import { oneLine } from '@gateway/service-kit/text/one-line'
import type { OutgoingMail } from './mailer.ts'

// What the service writes. Plain text: links are visible, and no mail program loads anything.

type Text = Omit<OutgoingMail, 'to'>

/** @param until ISO 8601 */
export function invitationText({
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
export function resetText({ link, until }: { link: string; until: string }): Text {
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
export function noPasswordText({ link }: { link: string }): Text {
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
