import type { NoticeRecord } from '@gateway/api/console/notices'
import type { Tone } from '../parts/badge.tsx'
import { Money } from '../parts/money.tsx'
import { several } from '../pure/usd.ts'

export type Delivery = NoticeRecord['deliveries'][number]

/** What happened, in a sentence. */
export function NoticeText({ notice, nameOf }: { notice: NoticeRecord; nameOf: (key: string) => string }) {
  const { kind, threshold, key, remainingMicro, spentMicro, limitMicro } = notice
  const remaining = remainingMicro !== null && (
    <span className="soft">
      {' '}
      <Money micro={remainingMicro} /> remained.
    </span>
  )
  switch (kind) {
    case 'wallet.below':
      return (
        <>
          Less than <Money micro={threshold} /> remained in the wallet.{remaining}
        </>
      )
    case 'wallet.days_left':
      return (
        <>
          The wallet lasted for less than {several(threshold, 'day')}.{remaining}
        </>
      )
    case 'key.percent':
      return (
        <>
          {key === null ? 'A key' : nameOf(key)} had spent {threshold} % of its limit.
          {spentMicro !== null && limitMicro !== null && (
            <span className="soft">
              {' '}
              <Money micro={spentMicro} /> of <Money micro={limitMicro} />.
            </span>
          )}
        </>
      )
  }
}

export const deliveryWords: Record<Delivery['state'], { text: string; tone: Tone }> = {
  Pending: { text: 'On its way', tone: 'plain' },
  Delivered: { text: 'Delivered', tone: 'good' },
  Dead: { text: 'Given up', tone: 'bad' },
}

const errorWords: Record<string, string> = {
  timeout: 'it did not answer in eight seconds',
  unreachable: 'it could not be reached',
  unknown_host: 'its host could not be found',
  private: 'it is not on the public internet',
  not_https: 'it does not begin with https://',
  key_missing: 'the operator no longer has the key of its secret',
}

/** Why it was not taken; null where nothing went wrong. */
export function failureText({ state, tries, status, error }: Delivery): string | null {
  if (state === 'Delivered' || (status === null && error === null)) return null
  const why = error === null ? `it answered ${status}` : (errorWords[error] ?? error)
  return `${several(tries, 'attempt')}: ${why}`
}
