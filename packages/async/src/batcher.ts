// Keeps a batch in flight while the next one gathers.
//   B1  No timer: a lone item goes at once, and a crowd shares a batch.
//   B2  A batch is taken at the moment at which it can go. What comes before that moment goes along.
//   B3  The queue is looked at again after each batch: what an execution puts back needs no wake.

export interface Batcher {
  /** Something may be taken now: it was added, or what held it back is over. */
  wake(): void
  /** Batches under way. */
  inFlight(): number
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
}: BatcherOptions<Batch>): Batcher {
  const waitingForIdle: (() => void)[] = []
  let inFlight = 0
  let scheduled = false

  function wake(): void {
    if (scheduled || inFlight >= concurrency) return
    scheduled = true
    defer(start)
  }

  function start(): void {
    scheduled = false
    while (inFlight < concurrency) {
      const batch = take()
      if (batch === null) break
      inFlight++
      void run(batch).finally(end)
    }
    if (inFlight === 0 && !scheduled) for (const resolve of waitingForIdle.splice(0)) resolve()
  }

  function end(): void {
    inFlight--
    wake()
  }

  return {
    wake,
    inFlight: () => inFlight,
    idle: () =>
      scheduled || inFlight > 0 ? new Promise((resolve) => waitingForIdle.push(resolve)) : Promise.resolve(),
  }
}

export interface ItemBatcher<Item> {
  add(item: Item): void
  /** Items that no batch has taken yet. */
  waiting(): number
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>
}

export interface ItemBatcherOptions<Item> extends Schedule {
  /** Items of a batch at most. */
  maxItems: number
  /** Must not reject, as above. */
  run: (items: Item[]) => Promise<void>
}

/** A batcher over a queue of its own, in which items stand in the order in which they came. */
export function openItemBatcher<Item>({ maxItems, run, ...schedule }: ItemBatcherOptions<Item>): ItemBatcher<Item> {
  const waiting: Item[] = []
  const batcher = openBatcher({
    take: () => (waiting.length === 0 ? null : waiting.splice(0, maxItems)),
    run,
    ...schedule,
  })
  return {
    add(item) {
      waiting.push(item)
      batcher.wake()
    },
    waiting: () => waiting.length,
    idle: batcher.idle,
  }
}
