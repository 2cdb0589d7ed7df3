import { invalidField } from '../request/check.ts'
import { DAY_MS, daysOf, HOUR_MS, timeZone, type TimeZone } from './time-zone.ts'

/** Period divided into the hours or days of a time zone. */
export interface UsageSteps {
  zone: TimeZone
  from: Date
  to: Date
  /** Start of each step. */
  starts: Date[]
  /** UTC hours within which a step starts or ends; their calls are read individually. */
  divided: Date[]
  /** Each step is a UTC day. */
  areDays: boolean
}

const MAX_HOURS = 62 * 24

/**
 * Returns the whole steps that overlap a period.
 * @throws Refusal `invalid_request` for an unknown zone, for hourly steps in a zone not aligned to UTC hours, and for
 * too many hours
 */
export function usageSteps(asked: { from: Date; to: Date }, step: 'hour' | 'day', name: string): UsageSteps {
  const zone = timeZone(name)
  if (!zone)
    throw invalidField(
      'zone',
      'is not a known time zone.',
      'Use a name of the IANA time zone database, such as Europe/Berlin, or leave it out for UTC.',
    )
  const [from, to] = [asked.from.getTime(), asked.to.getTime()]
  const bounds = step === 'day' ? daysOf(zone, from, to) : hoursOf(zone, from, to)
  const starts = bounds.slice(0, -1)
  const divided = new Set(bounds.filter((at) => at % HOUR_MS !== 0).map(hourOf))
  return {
    zone,
    from: new Date(bounds[0]!),
    to: new Date(bounds.at(-1)!),
    starts: starts.map((at) => new Date(at)),
    divided: [...divided].map((at) => new Date(at)),
    areDays: bounds.every((at) => at % DAY_MS === 0),
  }
}

/** The same period as one step. */
export function asOneStep({ zone, from, to, divided }: UsageSteps): UsageSteps {
  const ends = [from, to].map((at) => hourOf(at.getTime()))
  return {
    zone,
    from,
    to,
    starts: [from],
    divided: divided.filter((at) => ends.includes(at.getTime())),
    areDays: false,
  }
}

function hoursOf(zone: TimeZone, from: number, to: number): number[] {
  const first = hourOf(from)
  const count = Math.ceil((to - first) / HOUR_MS)
  if (count > MAX_HOURS)
    throw invalidField(
      'step',
      `divides this period into ${count} hours, and at most ${MAX_HOURS} are possible.`,
      'Request at most 62 days per hour, or use days.',
    )
  const bounds = Array.from({ length: count + 1 }, (_, n) => first + n * HOUR_MS)
  if (bounds.some((at) => zone.offsetAt(at) % HOUR_MS !== 0))
    throw invalidField(
      'zone',
      'is not aligned to full UTC hours, and usage is stored per UTC hour.',
      'Request days in this zone (step=day), or hours in another zone, such as UTC.',
    )
  return bounds
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS
}
