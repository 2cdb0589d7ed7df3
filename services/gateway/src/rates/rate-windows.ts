// The decision about rate limits, as the script of rate-store.ts takes it for all gateways, for one process.
//   W1  A window starts with the first use after the one before has ended, and lasts `windowMs`.
//   W2  All or nothing: either each meter has room for its cost and each pool a free place, and all are taken, or none.
//   W3  A gateway that counts alone grants its share of each limit. A cost beyond the share, such as that of a long prompt,
//       is granted to a window with some of the share left; the window then lasts as many times `windowMs` as it has used
//       shares, so that the mean of all gateways stays within the limit.

/** A count per window: of requests or tokens. */
export interface Meter {
  name: string
  max: number
  windowMs: number
  cost: number
}

/** Places for calls that run at the same time. */
export interface Pool {
  name: string
  max: number
}

export interface Demand {
  /** The project: its state is kept together. */
  group: string
  meters: Meter[]
  pools: Pool[]
  /** Holder of the places. */
  id: string
}

export interface Taking {
  /** Index of the first meter, or of the first pool after the meters, without room; null: all were taken. */
  exceeded: number | null
  /** Until it has room. */
  retryAfterMs: number
  /** Of each meter. */
  windows: Window[]
  /** Gateways among which the limits are divided (W3). 1: all count together. */
  shares: number
}

export interface Window {
  startMs: number
  used: number
  endsInMs: number
}

/** Gives back what was taken: costs of meters, if their window has not ended, and places. */
export interface Return {
  group: string
  meters: { name: string; startMs: number; cost: number }[]
  pools: string[]
  id: string
}

/** A place that is never given back is free again after this time, longer than any call lasts. */
const HELD_MS = 600_000
/** Retry-After for a pool: a place can become free at any moment. */
const POOL_RETRY_MS = 1_000

export interface Held {
  windows: Map<string, HeldWindow>
  places: Map<string, Map<string, number>>
}

export const nothingHeld = (): Held => ({ windows: new Map(), places: new Map() })

/** Granted by one of several gateways, as a whole number (W3). */
export const shareOf = (max: number, shares: number) => Math.max(1, Math.floor(max / shares))

/** Takes what is demanded, or nothing (W2). */
export function take(held: Held, { meters, pools, id }: Demand, nowMs: number, shares = 1): Taking {
  const windows = meters.map((meter) => windowOf(held, meter, nowMs, shares))
  const places = pools.map(({ name }) => placesOf(held, name, nowMs))
  let exceeded: number | null = null
  let retryAfterMs = 0
  for (const [n, meter] of meters.entries())
    if (exceeded === null && !hasRoom(meter, windows[n]!.used, shares))
      [exceeded, retryAfterMs] = [n, endOf(meter, windows[n]!, shares) - nowMs]
  for (const [n, { max }] of pools.entries())
    if (exceeded === null && places[n]!.size >= shareOf(max, shares))
      [exceeded, retryAfterMs] = [meters.length + n, POOL_RETRY_MS]
  if (exceeded === null) {
    for (const [n, { name, cost }] of meters.entries()) {
      windows[n]!.used += cost
      held.windows.set(name, windows[n]!)
    }
    hold(held, { pools, id }, nowMs)
  }
  const seen = windows.map((window, n) => ({ ...window, endsInMs: endOf(meters[n]!, window, shares) - nowMs }))
  return { exceeded, retryAfterMs, windows: seen, shares }
}

/** Holds the places of a call, wherever they were taken. */
export function hold(held: Held, { pools, id }: Pick<Demand, 'pools' | 'id'>, nowMs: number): void {
  for (const { name } of pools) placesOf(held, name, nowMs).set(id, nowMs + HELD_MS)
}

/** Ids that have held a place for at least `ageMs`, by pool. */
export function* holders(held: Held, nowMs: number, ageMs: number): Generator<[pool: string, ids: string[]]> {
  for (const name of held.places.keys()) {
    const places = [...placesOf(held, name, nowMs)]
    const ids = places.filter(([, untilMs]) => untilMs - HELD_MS <= nowMs - ageMs).map(([id]) => id)
    if (ids.length > 0) yield [name, ids]
  }
}

export function giveBack(held: Held, { meters, pools, id }: Return): void {
  for (const { name, startMs, cost } of meters) {
    const window = held.windows.get(name)
    if (window?.startMs === startMs) window.used -= cost
  }
  for (const name of pools) {
    const places = held.places.get(name)
    places?.delete(id)
    if (places?.size === 0) held.places.delete(name)
  }
}

type HeldWindow = Omit<Window, 'endsInMs'>

/** W1 */
function windowOf(held: Held, meter: Meter, nowMs: number, shares: number): HeldWindow {
  const last = held.windows.get(meter.name)
  return last && nowMs < endOf(meter, last, shares) ? last : { startMs: nowMs, used: 0 }
}

/** W3 */
function hasRoom({ max, cost }: Meter, used: number, shares: number): boolean {
  const share = max / shares
  return used + cost <= max && (cost > share ? used < share : used + cost <= share)
}

/** W3. A settlement beyond the limit adds nothing. */
function endOf({ max, windowMs }: Meter, { startMs, used }: HeldWindow, shares: number): number {
  return startMs + windowMs * Math.min(shares, Math.max(1, Math.ceil((used * shares) / max)))
}

function placesOf(held: Held, name: string, nowMs: number): Map<string, number> {
  const places = held.places.get(name) ?? new Map<string, number>()
  held.places.set(name, places)
  for (const [id, untilMs] of places) {
    if (untilMs > nowMs) break // in order of their start
    places.delete(id)
  }
  return places
}
