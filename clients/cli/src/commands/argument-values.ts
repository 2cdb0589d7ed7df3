import { microOf } from '@gateway/pricing/usd'
import { CommandFailure } from '../frame/command-failure.ts'

// Parses option values that users write into the form of the API.

const wrong = (name: string, text: string, example: string) =>
  new CommandFailure(`${name} can't be ${JSON.stringify(text)}.`, `Write it like ${example}`, 'usage')

/** US dollars as micro-USD, exactly: `0.25` is 250000. */
export function readAmount(name: string, text: string): number {
  const micro = microOf(text)
  if (micro === null) throw wrong(name, text, '0.25, with at most six decimal places')
  return micro
}

const resets = { day: 'daily', week: 'weekly', month: 'monthly', lifetime: 'lifetime' } as const

/** `5/day`: 5 US dollars per day. */
export function readSpendingLimit(text: string) {
  const [, amount = '', span = ''] = /^(.+)\/(day|week|month|lifetime)$/.exec(text) ?? []
  if (span === '') throw wrong('--limit', text, '5/day, 20/week, 50/month or 100/lifetime')
  return { micro: readAmount('--limit', amount), reset: resets[span as keyof typeof resets] }
}

const secondsOf = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

/** `90d`, `1h`, `30m` or `10s`, in seconds. */
export function readSpan(name: string, text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (number === undefined) throw wrong(name, text, '90d, 1h, 30m or 10s')
  return Number(number) * secondsOf[unit as keyof typeof secondsOf]
}

/** A duration in whole days. */
export function readDays(name: string, text: string): number {
  const days = readSpan(name, text) / secondsOf.d
  if (!Number.isInteger(days)) throw wrong(name, text, '90d')
  return days
}

export function readWholeNumber(name: string, text: string, { least = 0 } = {}): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : -1
  if (number < least) throw wrong(name, text, String(Math.max(least, 10)))
  return number
}

/** A time, absolute or relative to now: `2026-11-20`, `2026-11-20T10:00:00Z` or `7d`; ISO 8601, UTC. */
export function readMoment(name: string, text: string, nowMs: number): string {
  if (/^\d+[smhd]$/.test(text)) return new Date(nowMs - readSpan(name, text) * 1_000).toISOString()
  const ms = /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN
  // `Date.parse` takes February 31 as March 3.
  const isDay = new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10))
  if (Number.isNaN(ms) || !isDay)
    throw wrong(name, text, '2026-11-20, 2026-11-20T10:00:00Z or 7d for the last seven days')
  return new Date(ms).toISOString()
}

/** Operand: a flow of the project. */
export const flowOperand = {
  name: 'flow',
  summary: 'the name of its file, the name of the product, or its id',
  offered: 'flows',
} as const
/** Option: the cost ceiling of an execution. */
export const atMost = {
  type: 'string',
  value: 'amount',
  summary: 'Max cost, in US dollars',
} as const

/** Collects the records of pages, up to a maximum. */
export async function collect<Item>(pages: AsyncIterable<{ data: Item[] }>, atMost = Number.POSITIVE_INFINITY) {
  const items: Item[] = []
  for await (const { data } of pages) {
    items.push(...data)
    if (items.length >= atMost) break
  }
  return items.slice(0, atMost)
}
