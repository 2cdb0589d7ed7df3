import { backOffMs } from '@gateway/service-kit/async/waiting'
import { openBatcher } from '@gateway/service-kit/async/batcher'
import type { ItemRow, OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import type { ExchangeEnd, ItemsChannels } from './items-channels.ts'

// Sends many items in few requests.
//   G1  A single item goes at once. While a request waits for its first outcome, items gather for the next one: a batch
//       costs the ledger and Postgres much, and one item more little. The next request goes when it is full, or when
//       the first has waited for `patienceMs`, so that a ledger that hangs holds up no one else; up to `maxInFlight`.
//   G2  A request that has started to answer no longer holds up the next, so one slow wallet doesn't stall the others.
//   G3  Only the unanswered items of a cut request are resent, under the same ids; from then on they are doubtful: the
//       ledger may have decided them.
//   G4  Closings (settlements, releases, completions) go before admissions and claims: they free money.
//   G5  The items of a request that the ledger rejects are resent one by one, so that one bad item fails no others.

export interface PendingItem {
  readonly kind: ItemRow['kind']
  /** The item as JSON. */
  readonly json: string
  readonly bytes: number
  /** Suffix of its line after the item: nothing, or `,"trace":…`. */
  readonly trace: string
  /** How long the ledger may take for it if it is sent now. Milliseconds. */
  budgetMs(): number
  /** Nothing follows an outcome or a rejection, and an item that has ended gets neither. */
  onOutcome(outcome: OutcomeLine['outcome']): void
  onRejected(error: Error): void
  /** No caller waits for it. Set through `abandon` from outside. */
  ended: boolean
  /** It was sent to the ledger at least once. */
  sent: boolean
  /** It was sent, and it is not known whether it was decided (G3). */
  doubtful: boolean
  /** Send it in a separate request (G5). */
  alone: boolean
  request: OpenRequest | null
}

interface OpenRequest {
  pendingItems: PendingItem[]
  /** Number of items whose callers still wait. */
  unanswered: number
  /** Runs while items gather behind it (G1). */
  patience: NodeJS.Timeout | null
  /** To be called after its first outcome, and when it is closed. */
  onAnswering: () => void
  cancel: () => void
}

export interface RequestBatcher {
  submit(pendingItem: PendingItem): void
  /** Ends the item, and its request too if no other caller waits for it. */
  abandon(pendingItem: PendingItem): void
  /** Number of admissions and claims that wait to be sent. */
  waitingOpenings(): number
  /** Ends every request; waiting items are never sent. */
  stop(): void
}

export interface RequestBatcherOptions {
  channels: ItemsChannels
  maxInFlight: number
  maxRequests: number
  patienceMs: number
}

/** Per request. */
const MAX_ITEMS = 512
const MAX_BYTES = 1024 * 1024
/** Time that a request may take beyond the longest budget in it. */
const SLACK_MS = 1_000
const BACK_OFF = { firstMs: 25, maxMs: 1_000 }

export function openRequestBatcher(options: RequestBatcherOptions): RequestBatcher {
  const { channels, maxInFlight, maxRequests, patienceMs } = options
  const waiting = { closing: [] as PendingItem[], opening: [] as PendingItem[] }
  const open = new Set<OpenRequest>()
  const waitingOpenings = new Set<PendingItem>()
  let waitingBytes = 0
  let awaited = 0 // requests behind which items gather
  let failures = 0 // since the last outcome
  let pause: NodeJS.Timeout | null = null
  let stopped = false
  const batcher = openBatcher({
    take,
    run: start,
    concurrency: maxInFlight,
    defer: setImmediate, // after the current events, so that everything they submit shares a request
  })

  function submit(pendingItem: PendingItem): void {
    waiting[pendingItem.kind].push(pendingItem)
    waitingBytes += pendingItem.bytes
    if (pendingItem.kind === 'opening') waitingOpenings.add(pendingItem)
    batcher.wake()
  }

  /** Items of the next request; null if none waits, or none may be sent now. */
  function take(): PendingItem[] | null {
    if (pause !== null || stopped || open.size >= maxRequests || (awaited > 0 && !isFull())) return null
    const taken: PendingItem[] = []
    let bytes = 0
    for (const queue of [waiting.closing, waiting.opening]) {
      let seen = 0
      let full = false
      for (; seen < queue.length; seen++) {
        const pendingItem = queue[seen]!
        if (pendingItem.ended) {
          waitingBytes -= pendingItem.bytes
          continue
        }
        const fits = taken.length < MAX_ITEMS && bytes + pendingItem.bytes <= MAX_BYTES && !pendingItem.alone
        full = (taken.length > 0 && !fits) || taken[0]?.alone === true
        if (full) break
        taken.push(pendingItem)
        bytes += pendingItem.bytes
        waitingBytes -= pendingItem.bytes
        waitingOpenings.delete(pendingItem)
      }
      queue.splice(0, seen)
      if (full) break
    }
    return taken.length === 0 ? null : taken
  }

  /** Whether the waiting items fill a request. */
  function isFull(): boolean {
    return waiting.closing.length + waiting.opening.length >= MAX_ITEMS || waitingBytes >= MAX_BYTES
  }

  /** Resolves when this request has started to answer, or is closed (G1, G2). */
  async function start(pendingItems: PendingItem[]): Promise<void> {
    const answering = Promise.withResolvers<void>()
    const request: OpenRequest = {
      pendingItems,
      unanswered: pendingItems.length,
      patience: setTimeout(() => {
        waitNoLonger(request)
        batcher.wake()
      }, patienceMs),
      onAnswering: answering.resolve,
      cancel: () => {},
    }
    awaited++
    open.add(request)
    for (const pendingItem of pendingItems) pendingItem.request = request
    send(request)
    await answering.promise
  }

  function send(request: OpenRequest): void {
    const { pendingItems } = request
    let lines = ''
    let count = 0
    let longestMs = 0
    for (let n = 0; n < pendingItems.length; n++) {
      const pendingItem = pendingItems[n]!
      if (pendingItem.ended) continue // abandoned since it was taken
      const budgetMs = pendingItem.budgetMs()
      longestMs = Math.max(longestMs, budgetMs)
      count++
      lines += `{"n":${n},"budgetMs":${budgetMs},"item":${pendingItem.json}${pendingItem.trace}}\n`
      pendingItem.sent = true
    }
    request.cancel = channels.exchange(
      { lines, count, limitMs: longestMs + SLACK_MS },
      { outcome: (line) => answer(request, line), end: (end) => finish(request, end) },
    )
  }

  function answer(request: OpenRequest, { n, outcome }: OutcomeLine): void {
    failures = 0
    waitNoLonger(request)
    request.onAnswering() // G2
    const pendingItem = request.pendingItems[n]
    if (!pendingItem || pendingItem.ended || pendingItem.request !== request) return
    pendingItem.request = null
    request.unanswered--
    pendingItem.onOutcome(outcome)
  }

  function finish(request: OpenRequest, end: ExchangeEnd): void {
    close(request)
    const left = request.pendingItems.filter((pendingItem) => pendingItem.request === request && !pendingItem.ended)
    for (const pendingItem of left) pendingItem.request = null
    if (end.kind === 'rejected') {
      if (left.length === 1) return left[0]!.onRejected(end.error)
      for (const pendingItem of left) pendingItem.alone = true // G5
    } else if (end.kind === 'cut') {
      for (const pendingItem of left) pendingItem.doubtful = true // G3
    }
    if (left.length > 0) {
      putBack(left)
      if (end.kind !== 'rejected') backOff()
    }
  }

  function waitNoLonger(request: OpenRequest): void {
    if (request.patience === null) return
    clearTimeout(request.patience)
    request.patience = null
    awaited--
  }

  function close(request: OpenRequest): void {
    if (!open.delete(request)) return
    waitNoLonger(request)
    request.onAnswering()
    batcher.wake()
  }

  function putBack(pendingItems: PendingItem[]): void {
    for (const kind of ['closing', 'opening'] as const) {
      const again = pendingItems.filter((pendingItem) => pendingItem.kind === kind)
      waiting[kind].unshift(...again)
      for (const { bytes } of again) waitingBytes += bytes
      if (kind === 'opening') for (const pendingItem of again) waitingOpenings.add(pendingItem)
    }
  }

  /**
   * Retries at once after the first failure: a kept connection may just have been closed. Later retries wait longer.
   */
  function backOff(): void {
    failures++
    if (pause !== null || failures === 1) return batcher.wake()
    pause = setTimeout(
      () => {
        pause = null
        batcher.wake()
      },
      backOffMs(failures - 1, BACK_OFF),
    )
  }

  function abandon(pendingItem: PendingItem): void {
    if (pendingItem.ended) return
    pendingItem.ended = true
    const { request } = pendingItem
    waitingOpenings.delete(pendingItem)
    if (request === null) return
    pendingItem.request = null
    if (--request.unanswered === 0) {
      request.cancel()
      close(request)
    }
  }

  function stop(): void {
    stopped = true
    if (pause) clearTimeout(pause)
    for (const request of open) {
      waitNoLonger(request)
      request.cancel()
    }
    open.clear()
  }

  return { submit, abandon, waitingOpenings: () => waitingOpenings.size, stop }
}
