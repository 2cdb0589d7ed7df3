import type { ReactNode } from 'react'
import { count, usd } from './usd.ts'

/** `plain` is neutral. */
export type Tone = 'good' | 'warn' | 'bad' | 'plain'

export function Badge({ tone, text }: { tone: Tone; text: string }) {
  return <span className={`badge ${tone}`}>{text}</span>
}

/** Names and values. A null value is omitted. */
export function Facts({ of, className = 'facts' }: { of: [name: string, value: ReactNode][]; className?: string }) {
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

/** Time in the reader's zone, to the given precision; UTC to the millisecond on hover. */
export function Moment({ iso, to = 'minute' }: { iso: string; to?: keyof typeof texts }) {
  return (
    <time dateTime={iso} title={`${iso.replace('T', ' ').replace('Z', '')} UTC`}>
      {texts[to].format(new Date(iso))}
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
