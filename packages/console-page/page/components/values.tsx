import type { ReactNode } from 'react'
import { relativeTime, useEachMinute } from './relative-time.ts'
import { count, usd } from './usd.ts'

/** `good` is the normal state, `plain` is neutral. */
export type Tone = 'good' | 'warn' | 'bad' | 'plain'

/** State of a thing. The normal one is plain text: only what is not normal stands out. */
export function Badge({ tone, text }: { tone: Tone; text: string }) {
  return <span className={tone === 'good' ? undefined : `badge ${tone}`}>{text}</span>
}

/** Names and values. A null value is omitted. */
export function Facts({
  of,
  className = 'facts',
}: {
  of: readonly (readonly [name: string, value: ReactNode])[]
  className?: string
}) {
  return (
    <dl className={className}>
      {of
        .filter(([, value]) => value !== null)
        .map(([name, value], n) => (
          <div key={name} className={n === 0 ? 'first' : ''}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

const texts = {
  second: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }),
  minute: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }),
}

/**
 * Time seen from now, such as "3 minutes ago"; with `isExact`, or more than 30 days away, in the reader's zone, to the
 * given precision. On hover: to the second in the reader's zone, and in UTC to the millisecond.
 */
export function Moment({
  iso,
  to = 'minute',
  isExact = false,
}: {
  iso: string
  to?: keyof typeof texts
  isExact?: boolean
}) {
  useEachMinute()
  const at = new Date(iso)
  const relative = isExact ? null : relativeTime(at.getTime(), Date.now())
  return (
    <time dateTime={iso} title={`${texts.second.format(at)} (${iso.replace('T', ' ').replace('Z', '')} UTC)`}>
      {relative ?? texts[to].format(at)}
    </time>
  )
}

/** Exact amount in dollars; micro-USD on hover. */
export function Money({ micro }: { micro: number | bigint }) {
  return (
    <span className="figure" title={`${count(micro)} micro-USD`}>
      {usd(micro)}
    </span>
  )
}
