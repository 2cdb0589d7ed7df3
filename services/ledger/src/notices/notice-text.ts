import { deliveryReason } from '@gateway/api/console/delivery-reason'
import type { noticeDetails, WebhookDelivery } from '@gateway/api/console/notices'
import { several, usd } from '@gateway/pricing/usd'
import { oneLine } from '@gateway/service-kit/text/redact'
import type { z } from 'zod'

/** A notice as a person reads it: `subject` for a mail, `lines` for both mail and Slack. */
export interface NoticeText {
  subject: string
  lines: string[]
}

/** A notice with the names that its text mentions. Amounts in micro-USD. */
export interface NamedNotice {
  kind: WebhookDelivery['kind']
  threshold: bigint | null
  remaining_micro: bigint | null
  key: string | null
  limit_micro: bigint | null
  spent_micro: bigint | null
  details: z.infer<typeof noticeDetails>
  /** Null if deleted. */
  project_name: string | null
  /** Null if deleted, or if the notice is about no key. */
  key_name: string | null
}

/** Returns a notice in plain English, for mail and Slack. Names come from users and make no links. */
export function noticeText(notice: NamedNotice): NoticeText {
  const { kind, details } = notice
  const project = oneLine(notice.project_name ?? 'a deleted project')
  const key = `key ${oneLine(notice.key_name ?? notice.key ?? '')}`
  const threshold = notice.threshold ?? 0n
  const remaining = `${usd(notice.remaining_micro ?? 0n)} remaining.`
  switch (kind) {
    case 'wallet.below': {
      const subject = `Balance of ${project} below ${usd(threshold)}`
      return { subject, lines: [`The wallet balance of ${project} fell below ${usd(threshold)}. ${remaining}`] }
    }
    case 'wallet.days_left': {
      const days = several(Number(threshold), 'day')
      const subject = `Runway of ${project} below ${days}`
      return { subject, lines: [`At its current pace, the wallet of ${project} lasts less than ${days}. ${remaining}`] }
    }
    case 'key.percent': {
      const spent = `${usd(notice.spent_micro ?? 0n)} of ${usd(notice.limit_micro ?? 0n)} spent.`
      const reached = `${key} of ${project} reached ${threshold}% of its spending limit`
      return { subject: `The ${reached}`, lines: [`The ${reached}. ${spent}`] }
    }
    case 'budget.percent': {
      const spent = `${usd(notice.spent_micro ?? 0n)} of ${usd(notice.limit_micro ?? 0n)} spent.`
      const isRefusing = threshold === 100n && (notice.spent_micro ?? 0n) < (notice.limit_micro ?? 0n)
      const did = isRefusing ? 'refuses calls that cost more than is left' : `reached ${threshold}%`
      const reached = `The monthly budget of ${budgetSubject(details, project)} ${did}`
      return { subject: reached, lines: [`${reached}. ${spent}`] }
    }
    case 'key.rotated': {
      const isByKey = details.by !== undefined && details.by === notice.key
      const rotated = `The ${key} of ${project} ${isByKey ? 'rotated itself' : 'was rotated by a user'}`
      const check = `If this was not your program, revoke its replacement ${details.replacement}.`
      return { subject: rotated, lines: isByKey ? [`${rotated}.`, check] : [`${rotated}.`] }
    }
    case 'key.leaked': {
      const end = details.replacement === undefined ? 'The key was revoked.' : 'The key was rotated before.'
      const leaked = `The secret of the ${key} of ${project} was found in public`
      return { subject: leaked, lines: [`${leaked}. ${end}`, ...leakPlace(details)] }
    }
    case 'token.leaked': {
      const leaked = `A service token of ${project} was found in public`
      return { subject: leaked, lines: [`${leaked}, and was deleted.`, ...leakPlace(details)] }
    }
    case 'webhook.failing': {
      const failing = `A destination of the alerts of ${project} is failing`
      return { subject: failing, lines: [`${failing}: ${deliveryReason(details)}.`] }
    }
    case 'webhook.test':
      return { subject: `Test alert of ${project}`, lines: [`This is a test. Alerts of ${project} arrive here.`] }
  }
}

function budgetSubject({ budgetOf, subject = '' }: NamedNotice['details'], project: string): string {
  if (budgetOf === 'tag') return `the tag ${oneLine(subject)}`
  return budgetOf === 'team' ? `the team of ${project}` : `a user of ${project}`
}

function leakPlace({ location, source }: NamedNotice['details']): string[] {
  if (location === undefined) return []
  return [`Reported at ${oneLine(location)}${source === undefined ? '' : ` (${oneLine(source)})`}.`]
}
