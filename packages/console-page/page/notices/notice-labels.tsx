import type { NoticeRecord } from '@gateway/api/console/notices'
import type { Tone } from '../components/badge.tsx'
import { Money } from '../components/money.tsx'
import { several } from '../pure/usd.ts'

export type Delivery = NoticeRecord['deliveries'][number]

/** An alert as a sentence. */
export function NoticeText({ notice, nameOf }: { notice: NoticeRecord; nameOf: (key: string) => string }) {
  const { kind, threshold, key, remainingMicro, spentMicro, limitMicro } = notice
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
      return (
        <>
          {key === null ? 'A key' : nameOf(key)} reached {threshold}% of its spending limit.
          {spentMicro !== null && limitMicro !== null && (
            <span className="soft">
              {' '}
              <Money micro={spentMicro} /> of <Money micro={limitMicro} /> spent.
            </span>
          )}
        </>
      )
  }
}

export const deliveryLabels: Record<Delivery['state'], { text: string; tone: Tone }> = {
  Pending: { text: 'Pending', tone: 'plain' },
  Delivered: { text: 'Delivered', tone: 'good' },
  Dead: { text: 'Failed', tone: 'bad' },
}

const errorLabels: Record<string, string> = {
  timeout: 'no response within 8 seconds',
  unreachable: 'host unreachable',
  unknown_host: 'host not found',
  private: 'not a public address',
  not_https: 'not an https:// URL',
  key_missing: 'encryption key of the signing secret is missing',
}

/** Number of attempts and the last failure, or null if none failed. */
export function failureText({ state, tries, status, error }: Delivery): string | null {
  if (state === 'Delivered' || (status === null && error === null)) return null
  const why = error === null ? `HTTP ${status}` : (errorLabels[error] ?? error)
  return `${several(tries, 'attempt')}: ${why}`
}
