import { backOffMs } from '@gateway/service-kit/async/back-off'
import { ledgerItems, type ItemName, type ItemRow, type OutcomeLine } from '@gateway/contracts/ledger-items'
import type { Undecided } from '@gateway/contracts/ledger-outcomes'
import type { PendingItem, RequestBatcher } from './request-batcher.ts'
import { LedgerUnavailable } from './ledger-failures.ts'

// What an item means to its caller (architecture §M4, §M6).
//   S1  An admission that ends without a sure decision is released under its id: then or later, nothing stays reserved.
//   S2  A settlement, a release or a completion is never refused for lack of room: it is sent again until its budget ends or the
//       client closes.
//   S3  Beyond `maxWaiting` admissions and claims the next one is refused at once.
//   S4  A node's admission and claim are never released: what they hold ends with the lease, by `complete` or by the ledger.

type Outcome = OutcomeLine['outcome']
type Decided = Exclude<Outcome, Undecided>

export interface ItemSubmitter {
  /**
   * Sends an item and answers its outcome.
   * @throws LedgerUnavailable when it was not decided before its budget ended or the client closed
   */
  submit(name: ItemName, item: object, budgetMs: number, traceparent?: string): Promise<Decided>
  /** Resolves when nothing is left to decide. */
  idle(): Promise<void>
  /** Fails what still waits, and whatever comes. */
  stop(): void
}

/** How an item takes its outcomes. */
interface Receiver {
  /** What the caller is answered; null: another outcome will follow. Throws what the caller gets instead. */
  onOutcome(outcome: Outcome, pendingItem: PendingItem): Decided | null
  /** The budget ended first. */
  onLate(pendingItem: PendingItem): void
}

/** One try of a closing: past it the ledger drops it undecided, and it is sent again. */
const CLOSING_TRY_MS = 5_000
const CLOSING_BACK_OFF = { firstMs: 25, maxMs: 2_000 }
/** Left for the way back, so that the ledger's "undecided" is heard before the budget ends. */
const WAY_BACK = { share: 0.1, longestMs: 250 }

export function openItemSubmitter({
  batcher,
  maxWaiting,
  now,
}: {
  batcher: RequestBatcher
  maxWaiting: number
  now: () => number
}): ItemSubmitter {
  const pending = new Set<(error: Error) => void>()
  const waitForIdle: (() => void)[] = []
  let stopped = false

  function submit(name: ItemName, item: object, budgetMs: number, traceparent?: string): Promise<Decided> {
    const { kind, undecided }: ItemRow = ledgerItems[name]
    if (kind === 'closing') return send(name, item, budgetMs, traceparent, closingReceiver())
    if (batcher.waitingOpenings() >= maxWaiting) return Promise.reject(new LedgerUnavailable({ why: 'overloaded' })) // S3
    const id = undecided === 'released' ? (item as { id: string }).id : null // S4
    return send(name, item, budgetMs, traceparent, openingReceiver(id))
  }

  function openingReceiver(id: string | null): Receiver {
    return {
      onOutcome(outcome, { doubtful }) {
        // A copy of it may still wait at the ledger, and be admitted after this answer.
        if (doubtful && (outcome.kind === 'undecided' || outcome.kind === 'refused' || outcome.kind === 'running'))
          releaseLater(id) // S1
        if (outcome.kind === 'undecided' && outcome.why === 'unknown' && !doubtful) releaseLater(id) // S1
        if (outcome.kind === 'undecided') throw failureOf(outcome)
        return outcome
      },
      onLate(pendingItem) {
        if (pendingItem.sent) releaseLater(id) // S1
      },
    }
  }

  function releaseLater(id: string | null): void {
    if (id === null || stopped) return
    const item = { id, reason: 'its admission was not answered in time' }
    void submit('release', item, Infinity).catch(() => {})
  }

  function closingReceiver(): Receiver {
    let tries = 0
    return {
      onOutcome(outcome, pendingItem) {
        if (outcome.kind !== 'undecided') return outcome
        setTimeout(() => pendingItem.ended || batcher.submit(pendingItem), backOffMs(++tries, CLOSING_BACK_OFF)) // S2
        return null
      },
      onLate() {},
    }
  }

  function send(
    name: ItemName,
    item: object,
    budgetMs: number,
    traceparent: string | undefined,
    { onOutcome, onLate }: Receiver,
  ): Promise<Decided> {
    const { op, kind } = ledgerItems[name]
    if (stopped) return Promise.reject(new LedgerUnavailable({ why: 'unavailable' }))
    return new Promise((resolve, reject) => {
      const json = `{"op":"${op}",${JSON.stringify(item).slice(1)}`
      const endsAtMs = now() + budgetMs
      const pendingItem: PendingItem = {
        kind,
        json,
        bytes: Buffer.byteLength(json),
        trace: traceparent === undefined ? '' : `,"trace":"${traceparent}"`,
        budgetMs: () => tryMs(kind, Math.min(endsAtMs - now(), budgetMs)),
        onOutcome(outcome) {
          try {
            const decided = onOutcome(outcome, pendingItem)
            if (decided === null) return
            end()
            resolve(decided)
          } catch (error) {
            end()
            reject(error)
          }
        },
        onRejected: fail,
        ended: false,
        sent: false,
        doubtful: false,
        alone: false,
        request: null,
      }
      const timer = budgetMs < FOR_EVER_MS ? setTimeout(expire, budgetMs) : null
      pending.add(fail)
      batcher.submit(pendingItem)

      function expire(): void {
        onLate(pendingItem)
        fail(new LedgerUnavailable({ why: 'unavailable' }))
      }

      function fail(error: Error): void {
        batcher.abandon(pendingItem)
        end()
        reject(error)
      }

      function end(): void {
        pendingItem.ended = true
        if (timer) clearTimeout(timer)
        pending.delete(fail)
        if (pending.size === 0) for (const resolveIdle of waitForIdle.splice(0)) resolveIdle()
      }
    })
  }

  return {
    submit,
    idle: () => (pending.size === 0 ? Promise.resolve() : new Promise((resolve) => waitForIdle.push(resolve))),
    stop() {
      stopped = true
      for (const fail of pending) fail(new LedgerUnavailable({ why: 'unavailable' }))
    },
  }
}

function failureOf({ why }: Undecided): LedgerUnavailable {
  return new LedgerUnavailable({ why: why === 'overloaded' ? 'overloaded' : 'unavailable' })
}

/** How long the ledger may take over an item with `leftMs` of its budget left. Whole milliseconds, at least 1. */
function tryMs(kind: ItemRow['kind'], leftMs: number): number {
  const answeredMs = leftMs - Math.min(leftMs * WAY_BACK.share, WAY_BACK.longestMs)
  return Math.max(1, Math.floor(Math.min(answeredMs, kind === 'opening' ? LONGEST_TRY_MS : CLOSING_TRY_MS)))
}

/** Longer than a timer can run. */
const FOR_EVER_MS = 2 ** 31 - 1
/** The ledger takes no item for longer. */
const LONGEST_TRY_MS = 300_000
