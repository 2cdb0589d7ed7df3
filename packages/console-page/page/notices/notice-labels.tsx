import { deliveryReason } from '@gateway/api/console/delivery-reason'
import type { NoticeRecord, WebhookDelivery, WebhookRecord } from '@gateway/api/console/notices'
import { Money, type Tone } from '../components/values.tsx'
import { several } from '../components/usd.ts'

export type Delivery = NoticeRecord['deliveries'][number]

interface Names {
  /** Name of a key, by its ID. */
  nameOf: (key: string) => string
  /** Name of a user, by their ID. */
  userOf: (user: string) => string
}

/** An alert as a sentence. */
export function NoticeText({ notice, nameOf, userOf }: { notice: NoticeRecord } & Names) {
  const { kind, key, remainingMicro, spentMicro, limitMicro, details } = notice
  const threshold = notice.threshold ?? 0
  const name = key === null ? 'A key' : nameOf(key)
  const remaining = remainingMicro !== null && (
    <span className="soft">
      {' '}
      <Money micro={remainingMicro} /> remaining.
    </span>
  )
  switch (kind) {
    case 'wallet.below':
      return (
        <>
          Wallet balance fell below <Money micro={threshold} />.{remaining}
        </>
      )
    case 'wallet.days_left':
      return (
        <>
          Runway fell below {several(threshold, 'day')}.{remaining}
        </>
      )
    case 'key.percent':
    case 'budget.percent': {
      const isRefusing = threshold === 100 && (spentMicro ?? 0) < (limitMicro ?? 0)
      return (
        <>
          {kind === 'key.percent'
            ? `${name} reached ${threshold}% of its spending limit.`
            : `${budgetName(details, userOf)} ${isRefusing ? 'refuses calls that cost more than is left' : `reached ${threshold}%`} this month.`}
          {spentMicro !== null && limitMicro !== null && (
            <span className="soft">
              {' '}
              <Money micro={spentMicro} /> of <Money micro={limitMicro} /> spent.
            </span>
          )}
        </>
      )
    }
    case 'key.rotated': {
      const { by = '', replacement } = details
      return (
        <>
          {by === key ? `${name} rotated itself.` : `${name} was rotated by ${userOf(by)}.`}
          {replacement !== undefined && by === key && (
            <span className="soft"> If this was not your program, revoke its replacement {replacement}.</span>
          )}
        </>
      )
    }
    case 'key.leaked':
      return (
        <>
          The secret of {name} was found in public
          {details.replacement === undefined ? ', and the key was revoked.' : '. The key was rotated before.'}
          <LeakPlace details={details} />
        </>
      )
    case 'token.leaked':
      return (
        <>
          A service token was found in public, and was deleted.
          <LeakPlace details={details} />
        </>
      )
    case 'webhook.failing':
      return (
        <>
          A destination is failing: {deliveryReason(details)}.
          <span className="soft"> Resend its deliveries once it works.</span>
        </>
      )
  }
}

function budgetName({ budgetOf, subject = '' }: NoticeRecord['details'], userOf: Names['userOf']): string {
  if (budgetOf === 'team') return "The team's budget"
  return `The budget of ${budgetOf === 'user' ? userOf(subject) : `the tag ${subject}`}`
}

/** Where a secret was found. It is a stranger's text, so it is never a link. */
function LeakPlace({ details: { location, source } }: Pick<NoticeRecord, 'details'>) {
  if (location === undefined) return null
  return (
    <div className="soft small">
      Reported at <code>{location}</code>
      {source !== undefined && ` (${source})`}
    </div>
  )
}

export const kindLabels: Record<WebhookDelivery['kind'], string> = {
  'wallet.below': 'Balance below a threshold',
  'wallet.days_left': 'Runway below a threshold',
  'key.percent': 'Key spend',
  'budget.percent': 'Budget spend',
  'key.rotated': 'Key rotated',
  'key.leaked': 'Leaked key',
  'token.leaked': 'Leaked service token',
  'webhook.failing': 'Failing destination',
  'webhook.test': 'Test',
}

export const deliveryLabels: Record<Delivery['state'], { text: string; tone: Tone }> = {
  Pending: { text: 'Pending', tone: 'plain' },
  Delivered: { text: 'Delivered', tone: 'good' },
  Dead: { text: 'Failed', tone: 'bad' },
}

/** Number of attempts and the last failure, or null if none failed. */
export function failureText({ state, tries, status, error }: Omit<Delivery, 'webhook'>): string | null {
  if (state === 'Delivered' || (status === null && error === null)) return null
  return `${several(tries, 'attempt')}: ${deliveryReason({ status, error })}`
}

export const destinationKinds = { standard: 'Webhook', slack: 'Slack', email: 'Email' } as const

/** Where a destination leads: its address, or who gets the emails. @param userOf name of a user, by their ID */
export function destinationText({ url, user }: Pick<WebhookRecord, 'url' | 'user'>, userOf: Names['userOf']): string {
  return url ?? (user === null ? 'Project Owners' : userOf(user))
}
