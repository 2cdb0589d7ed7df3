// Gathers the next batch while one is in flight.
//   B1  No timer: a lone item runs at once, and a crowd shares a batch.
//   B2  A batch is taken at the moment when it can run. It includes everything added before that moment.
//   B3  The queue is checked again after each batch: an item that a batch puts back needs no wake.
//   B4  What follows a batch, such as its answers, runs once the next one is on its way: the database works meanwhile.

/** Waiting items and batches in flight. An age is 0 if there are none. */
export interface Backlog extends InFlight {
  /** Items that no batch has taken yet. */
  all: number
  /** How long the oldest of them has waited, since it was added or since a batch put it back. Milliseconds. */
  oldestMs: number
}

interface InFlight {
  /** Batches in flight. */
  inFlight: number
  /** Age of the oldest batch in flight. Milliseconds. */
  inFlightMs: number
}

export interface Batcher {
  /** Call when something may be taken: an item was added, or a pause ended. */
  wake(): void
  underWay(): InFlight
  /** Runs `work`, which must not throw, after the batch that calls it has made way for the next one (B4). */
  follow(work: () => void): void
  /** Resolves when no batch is in flight, none can be taken, and nothing follows one. */
  idle(): Promise<void>
}

interface Schedule {
  /** Maximum number of batches in flight. Default: 1. */
  concurrency?: number
  /**
   * Defers taking a batch until the current events have added their items: `queueMicrotask` (the default) for callers
   * of the same tick, `setImmediate` for all sockets read in this turn of the event loop.
   */
  defer?: (work: () => void) => unknown
  /** Monotonic milliseconds. */
  now?: () => number
}

export interface BatcherOptions<Batch> extends Schedule {
  /** Takes the next batch out of the queue; null if nothing waits or nothing may run now. */
  take: () => Batch | null
  /** Must not reject: errors go to the callers that wait for the items. A rejection would be unhandled. */
  run: (batch: Batch) => Promise<void>
}

/** A batcher over a queue of the caller, who adds to the queue and calls `wake`. */
export function openBatcher<Batch>({
  take,
  run,
  concurrency = 1,
  defer = queueMicrotask,
  now = () => performance.now(),
}: BatcherOptions<Batch>): Batcher {
  const waitingForIdle: (() => void)[] = []
  /** When each batch in flight was taken, oldest first. */
  const inFlight = new Set<{ sinceMs: number }>()
  let scheduled = false
  let following = 0

  function wake(): void {
    if (scheduled || inFlight.size >= concurrency) return
    scheduled = true
    defer(start)
  }

  function start(): void {
    scheduled = false
    while (inFlight.size < concurrency) {
      const batch = take()
      if (batch === null) break
      const flight = { sinceMs: now() }
      inFlight.add(flight)
      void run(batch).finally(() => end(flight))
    }
    resolveIfIdle()
  }

  function resolveIfIdle(): void {
    if (isIdle()) for (const resolve of waitingForIdle.splice(0)) resolve()
  }

  function isIdle(): boolean {
    return !scheduled && inFlight.size === 0 && following === 0
  }

  function follow(work: () => void): void {
    following++
    setImmediate(() => {
      work()
      following--
      resolveIfIdle()
    })
  }

  function end(flight: { sinceMs: number }): void {
    inFlight.delete(flight)
    wake()
  }

  function underWay(): InFlight {
    const [oldest] = inFlight
    return { inFlight: inFlight.size, inFlightMs: oldest === undefined ? 0 : now() - oldest.sinceMs }
  }

  return {
    wake,
    underWay,
    follow,
    idle: () => (isIdle() ? Promise.resolve() : new Promise((resolve) => waitingForIdle.push(resolve))),
  }
}

export interface ItemBatcher<Item> {
  add(item: Item): void
  waiting(): Backlog
  follow: Batcher['follow']
  /** Resolves when nothing waits, no batch is in flight, and nothing follows one. */
  idle(): Promise<void>
}

export interface ItemBatcherOptions<Item> extends Schedule {
  /** Maximum number of items per batch. */
  maxItems: number
  /** Must not reject, as above. */
  run: (items: Item[]) => Promise<void>
  /**
   * Which items are copies of one another, and their deadlines. Without it every item waits separately, without a
   * limit.
   */
  line?: Omit<WaitingLineOptions<Item>, 'now'>
}

/** How late an expired item may be dropped while no batch takes items. */
const SWEEP_MS = 250

/** A batcher over a separate queue, first in, first out. */
export function openItemBatcher<Item>({
  maxItems,
  run,
  line = { nameOf: () => Symbol('item'), join: () => {}, dropAtMs: () => Infinity, drop: () => {} },
  ...schedule
}: ItemBatcherOptions<Item>): ItemBatcher<Item> {
  const { now = () => performance.now() } = schedule
  const waiting = new WaitingLine<Item>({ ...line, now })
  const batcher = openBatcher({ take, run, ...schedule })
  const sweep = openSweep({ everyMs: SWEEP_MS, sweep: dropLate })

  function take(): Item[] | null {
    const taken = waiting.take(maxItems)
    return taken.length === 0 ? null : taken
  }

  function dropLate(): boolean {
    waiting.dropLate()
    return waiting.size > 0
  }

  return {
    add(item) {
      waiting.add(item)
      sweep.arm()
      batcher.wake()
    },
    waiting: () => ({ all: waiting.size, oldestMs: waiting.oldestMs, ...batcher.underWay() }),
    follow: batcher.follow,
    idle: batcher.idle,
  }
}

// Items that wait for a batch, first in, first out.
//   W1  Of two items under one name only the first waits, for both. So an item that is sent repeatedly takes up one
//       place.
//   W2  An expired item is dropped: by the next take, or by a timer while there is none.

export interface WaitingLineOptions<Item> {
  /** The identity that copies of one item share. */
  nameOf: (item: Item) => unknown
  /** Makes the first item respond for its copy too, and wait until the copy's deadline. The copy itself is not kept. */
  join: (first: Item, copy: Item) => void
  /** When no caller waits for it any longer, by `now`. */
  dropAtMs: (item: Item) => number
  /** Called for an expired item: it will never be taken. */
  drop: (item: Item) => void
  /** Monotonic milliseconds. */
  now: () => number
}

export class WaitingLine<Item> {
  readonly #options: WaitingLineOptions<Item>
  /** In the order of taking. */
  readonly #waiting = new Map<unknown, { item: Item; sinceMs: number }>()

  constructor(options: WaitingLineOptions<Item>) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size
  }

  /** How long the first item has waited; 0 if nothing waits. Milliseconds. */
  get oldestMs(): number {
    for (const { sinceMs } of this.#waiting.values()) return this.#options.now() - sinceMs
    return 0
  }

  add(item: Item): void {
    const { nameOf, join, now } = this.#options
    const name = nameOf(item)
    const first = this.#waiting.get(name)
    if (first === undefined) this.#waiting.set(name, { item, sinceMs: now() })
    else join(first.item, item) // W1
  }

  /** Takes at most `max` items. One that doesn't fit keeps its place. */
  take(max: number, fits: (item: Item) => boolean = () => true): Item[] {
    const taken: Item[] = []
    for (const [name, { item }] of this.#waiting) {
      if (taken.length >= max) break
      if (this.#dropIfLate(name, item) || !fits(item)) continue
      this.#waiting.delete(name)
      taken.push(item)
    }
    return taken
  }

  /** W2 */
  dropLate(): void {
    for (const [name, { item }] of this.#waiting) this.#dropIfLate(name, item)
  }

  #dropIfLate(name: unknown, item: Item): boolean {
    const { dropAtMs, drop, now } = this.#options
    if (now() < dropAtMs(item)) return false
    this.#waiting.delete(name)
    drop(item)
    return true
  }
}

export interface Sweep {
  /** Call after adding something that may need to be swept later. */
  arm(): void
}

/**
 * Calls `sweep` every `everyMs` until it returns false. No timer runs while nothing is left, and none keeps the process
 * alive.
 */
export function openSweep({ everyMs, sweep }: { everyMs: number; sweep: () => boolean }): Sweep {
  let armed = false

  function arm(): void {
    if (armed) return
    armed = true
    setTimeout(() => {
      armed = false
      if (sweep()) arm()
    }, everyMs).unref()
  }

  return { arm }
}
