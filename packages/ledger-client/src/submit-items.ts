import type { LedgerItem } from '@gateway/contracts/ledger-items'
import type { OutcomeLine, OutcomeOf, Undecided } from '@gateway/contracts/ledger-outcomes'
import type { Batcher, PendingItem } from './item-batcher.ts'
import { LedgerUnavailable } from './ledger-failures.ts'

// What an item means to its caller (architecture.md, money core 4 and 6).
//   S1  An admission that ends without a sure decision is released under its id: then or later, nothing stays reserved.
//   S2  A settlement, a release or a completion is never refused for lack of room: it is repeated until its budget ends or the
//       client closes.
//   S3  Beyond `maxWaiting` admissions and claims the next one is refused at once.
//   S4  A node's admission and claim are never released: what they hold ends with the lease, by `complete` or by the ledger.

type ItemOf<Op extends LedgerOp> = Omit<Extract<LedgerItem, { op: Op }>, 'op'>
type LedgerOp = LedgerItem['op']
/** May be refused undecided; the others are repeated. */
type Opening = 'admit' | 'admit-node' | 'claim'
type Closing = Exclude<LedgerOp, Opening>
type Outcome = OutcomeLine['outcome']

export interface ItemSubmitter {
  /** @throws LedgerUnavailable when it was not decided */
  open<Op extends Opening>(op: Op, item: ItemOf<Op>, budgetMs: number, traceparent?: string): Promise<OutcomeOf<Op>>
  /** @throws LedgerUnavailable when the budget has ended or the client has closed */
  close<Op extends Closing>(op: Op, item: ItemOf<Op>, budgetMs: number, traceparent?: string): Promise<OutcomeOf<Op>>
  /** Resolves when nothing is left to decide. */
  idle(): Promise<void>
  /** Fails what still waits, and whatever comes. */
  stop(): void
}

interface Meaning {
  /** What the caller is answered; null: another outcome will follow. Throws what the caller is told instead. */
  read(outcome: Outcome, pendingItem: PendingItem): Outcome | null
  /** The budget ended first. */
  late(pendingItem: PendingItem): void
}

/** One try of a closing: past it the ledger drops it undecided, and it is sent again. */
const CLOSING_TRY_MS = 5_000
const CLOSING_BACK_OFF_MS = { first: 25, most: 2_000 }
/** Left for the way back, so that the ledger's "undecided" is heard before the budget ends. */
const WAY_BACK = { share: 0.1, mostMs: 250 }

export function openItemSubmitter({
  batcher,
  maxWaiting,
  now,
}: {
  batcher: Batcher
  maxWaiting: number
  now: () => number
}): ItemSubmitter {
  const pending = new Set<(error: Error) => void>()
  const waitForIdle: (() => void)[] = []
  let stopped = false

  async function open<Op extends Opening>(
    op: Op,
    item: ItemOf<Op>,
    budgetMs: number,
    traceparent?: string,
  ): Promise<OutcomeOf<Op>> {
    if (batcher.waitingAdmissions() >= maxWaiting) throw new LedgerUnavailable({ why: 'overloaded' }) // S3
    const id = op === 'admit' ? (item as object as ItemOf<'admit'>).id : null // S4
    return (await submit(op, item, budgetMs, traceparent, {
      read(outcome, { doubtful }) {
        // A copy of it may still wait at the ledger, and be admitted after this answer.
        if (doubtful && (outcome.kind === 'undecided' || outcome.kind === 'refused' || outcome.kind === 'running'))
          releaseLater(id) // S1
        if (outcome.kind === 'undecided' && outcome.why === 'unknown' && !doubtful) releaseLater(id) // S1
        if (outcome.kind === 'undecided') throw failureOf(outcome)
        return outcome
      },
      late(pendingItem) {
        if (pendingItem.sent) releaseLater(id) // S1
      },
    })) as OutcomeOf<Op>
  }

  function releaseLater(id: string | null): void {
    if (id !== null && !stopped)
      void close('release', { id, reason: 'its admission was not answered in time' }, Infinity).catch(() => {})
  }

  async function close<Op extends Closing>(
    op: Op,
    item: ItemOf<Op>,
    budgetMs: number,
    traceparent?: string,
  ): Promise<OutcomeOf<Op>> {
    let tries = 0
    return (await submit(op, item, budgetMs, traceparent, {
      read(outcome, pendingItem) {
        if (outcome.kind !== 'undecided') return outcome
        const waitMs = Math.min(CLOSING_BACK_OFF_MS.first * 2 ** tries++, CLOSING_BACK_OFF_MS.most)
        setTimeout(() => pendingItem.over || batcher.submit(pendingItem), waitMs) // S2
        return null
      },
      late() {},
    })) as OutcomeOf<Op>
  }

  function submit(
    op: LedgerOp,
    item: object,
    budgetMs: number,
    traceparent: string | undefined,
    { read, late }: Meaning,
  ): Promise<Outcome> {
    if (stopped) return Promise.reject(new LedgerUnavailable({ why: 'unavailable' }))
    return new Promise((resolve, reject) => {
      const json = `{"op":"${op}",${JSON.stringify(item).slice(1)}`
      const endsAtMs = now() + budgetMs
      const pendingItem: PendingItem = {
        kind: isOpening(op) ? 'admission' : 'closing',
        json,
        bytes: Buffer.byteLength(json),
        trace: traceparent === undefined ? '' : `,"trace":"${traceparent}"`,
        budgetMs: () => tryMs(op, Math.min(endsAtMs - now(), budgetMs)),
        onOutcome(outcome) {
          try {
            const answer = read(outcome, pendingItem)
            if (answer === null) return
            end()
            resolve(answer)
          } catch (error) {
            end()
            reject(error)
          }
        },
        onRejected: fail,
        over: false,
        sent: false,
        doubtful: false,
        alone: false,
        request: null,
      }
      const timer = budgetMs < FOR_EVER_MS ? setTimeout(expire, budgetMs) : null
      pending.add(fail)
      batcher.submit(pendingItem)

      function expire(): void {
        late(pendingItem)
        fail(new LedgerUnavailable({ why: 'unavailable' }))
      }

      function fail(error: Error): void {
        batcher.abandon(pendingItem)
        end()
        reject(error)
      }

      function end(): void {
        pendingItem.over = true
        if (timer) clearTimeout(timer)
        pending.delete(fail)
        if (pending.size === 0) for (const tell of waitForIdle.splice(0)) tell()
      }
    })
  }

  return {
    open,
    close,
    idle: () => (pending.size === 0 ? Promise.resolve() : new Promise((resolve) => waitForIdle.push(resolve))),
    stop() {
      stopped = true
      for (const fail of pending) fail(new LedgerUnavailable({ why: 'unavailable' }))
    },
  }
}

function isOpening(op: LedgerOp): op is Opening {
  return op === 'admit' || op === 'admit-node' || op === 'claim'
}

function failureOf({ why }: Undecided): LedgerUnavailable {
  return new LedgerUnavailable({ why: why === 'overloaded' ? 'overloaded' : 'unavailable' })
}

/** How long the ledger may take over an item with `leftMs` of its budget left. Whole milliseconds, at least 1. */
function tryMs(op: LedgerOp, leftMs: number): number {
  const answeredMs = leftMs - Math.min(leftMs * WAY_BACK.share, WAY_BACK.mostMs)
  return Math.max(
    1,
    Math.floor(isOpening(op) ? Math.min(answeredMs, LONGEST_TRY_MS) : Math.min(answeredMs, CLOSING_TRY_MS)),
  )
}

/** Longer than a timer can run. */
const FOR_EVER_MS = 2 ** 31 - 1
/** The ledger takes no item for longer. */
const LONGEST_TRY_MS = 300_000
