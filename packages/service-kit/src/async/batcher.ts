// Keeps a batch in flight while the next one gathers.
//   B1  No timer: a lone item goes at once, and a crowd shares a batch.
//   B2  A batch is taken at the moment at which it can go. What comes before that moment goes along.
//   B3  The queue is looked at again after each batch: what an execution puts back needs no wake.

/** What waits and what is under way. An age is 0 where there is nothing. */
export interface Backlog extends InFlight {
  /** Items that no batch has taken yet. */
  all: number
  /** For how long the oldest of them has waited, since it came or since a batch put it back. Milliseconds. */
  oldestMs: number
}

interface InFlight {
  /** Batches under way. */
  inFlight: number
  /** For how long the oldest of these has been under way. Milliseconds. */
  inFlightMs: number
}

export interface Batcher {
  /** Something may be taken now: it was added, or what held it back is over. */
  wake(): void
  underWay(): InFlight
  /** Resolves when no batch is under way and none can be taken. */
  idle(): Promise<void>
}

interface Schedule {
  /** Batches in flight at most. Default: 1. */
  concurrency?: number
  /**
   * Puts the taking off until the events at hand have added what they add: `queueMicrotask` (the default) for callers of the same
   * tick, `setImmediate` for all sockets that were read in this turn of the event loop.
   */
  defer?: (work: () => void) => unknown
  /** Monotonic milliseconds. */
  now?: () => number
}

export interface BatcherOptions<Batch> extends Schedule {
  /** Takes the next batch out of the queue; null when nothing waits, or when nothing may go now. */
  take: () => Batch | null
  /** Must not reject: an error belongs to those who wait for the items. A rejection of it would be an unhandled one. */
  run: (batch: Batch) => Promise<void>
}

/** A batcher over a queue of the caller's. The caller adds to the queue and calls `wake`. */
export function openBatcher<Batch>({
  take,
  run,
  concurrency = 1,
  defer = queueMicrotask,
  now = () => performance.now(),
}: BatcherOptions<Batch>): Batcher {
  const waitingForIdle: (() => void)[] = []
  /** When each batch under way was taken, oldest first. */
  const inFlight = new Set<{ sinceMs: number }>()
  let scheduled = false

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
    if (inFlight.size === 0 && !scheduled) for (const resolve of waitingForIdle.splice(0)) resolve()
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
    idle: () =>
      scheduled || inFlight.size > 0 ? new Promise((resolve) => waitingForIdle.push(resolve)) : Promise.resolve(),
  }
}

export interface ItemBatcher<Item> {
  add(item: Item): void
  waiting(): Backlog
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>
}

export interface ItemBatcherOptions<Item> extends Schedule {
  /** Items of a batch at most. */
  maxItems: number
  /** Must not reject, as above. */
  run: (items: Item[]) => Promise<void>
  /** Which items are copies of one another, and until when they wait. Without it each waits by itself, without an end. */
  line?: Omit<WaitingLineOptions<Item>, 'now'>
}

/** How late an item past its time may be dropped while no batch takes anything. */
const SWEEP_MS = 250

/** A batcher over its own queue, in which items are in the order in which they came. */
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
    idle: batcher.idle,
  }
}

// Items that wait for a batch, first come, first served.
//   W1  Of two under one name one waits: the first, for both. So what is sent again and again takes the room of one.
//   W2  An item past its time is dropped: by anyone who takes, and by a timer while no one does.

export interface WaitingLineOptions<Item> {
  /** What two copies of one item have in common. */
  nameOf: (item: Item) => unknown
  /** Has the first answered for its copy too, and wait for as long as the copy may. The copy itself is not kept. */
  join: (first: Item, copy: Item) => void
  /** The moment past which no one waits for it anymore, by `now`. */
  dropAtMs: (item: Item) => number
  /** Its time is over: it will never be taken. */
  drop: (item: Item) => void
  /** Monotonic milliseconds. */
  now: () => number
}

export class WaitingLine<Item> {
  readonly #options: WaitingLineOptions<Item>
  /** In the order in which they are taken. */
  readonly #waiting = new Map<unknown, { item: Item; sinceMs: number }>()

  constructor(options: WaitingLineOptions<Item>) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size
  }

  /** How long the first one has stood here; 0: nothing waits. Milliseconds. */
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

  /** Takes `max` items at most. One that doesn't fit stays in its place. */
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
  /** Something has come that may have to be swept away later. */
  arm(): void
}

/**
 * Calls `sweep` every `everyMs` for as long as it answers that something is left. No timer runs while nothing is, and none
 * keeps the process alive.
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
