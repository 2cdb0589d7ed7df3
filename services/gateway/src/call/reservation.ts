import type { SettleItem } from '@gateway/contracts/ledger-items'
import type { OutcomeOf } from '@gateway/contracts/ledger-items'
import { idempotencyKeyLimits } from '@gateway/contracts/limits'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Logger } from '@gateway/process/logger'
import type { Notifier } from '@gateway/notifier/notifier'
import type { AdmittedCall } from '../admit/admit-call.ts'
import type { Metrics } from '../metrics.ts'
import type { CountedUsage } from '@gateway/tokens/counted-usage'
import type { OpenCalls } from './open-calls.ts'

// How what is held for a call ends.
//   H1  Once: by the first of `settle` and `release`; what comes after it does nothing.
//   H2  The caller waits for it PATIENCE_MS at most. Past that he gets his answer and the settlement goes on behind it, as
//       long as this process lives; if it dies first, the stack pays (architecture.md, money core 6).
//   H3  Who waits for this invocation is told once it has ended.

/** What is held for one admitted call. Nothing of it ever rejects. */
export interface Hold {
  /** Charges the usage and, of a keyed call, saves the answer. */
  settle(usage: CountedUsage, answer: SettleItem['answer']): Promise<void>
  /** Gives everything back: the call is not charged. */
  release(reason: string): Promise<void>
}

export type HoldCall = (call: Pick<AdmittedCall, 'reservation' | 'invocation'>, keyed: boolean) => Hold

interface Deps {
  ledger: Pick<LedgerClient, 'settle' | 'release'>
  notifier: Pick<Notifier, 'notify'>
  calls: Pick<OpenCalls, 'behind'>
  metrics: Pick<Metrics, 'closed'>
  log: Logger
}

type Closed = OutcomeOf<'settle'> | OutcomeOf<'release'>

const PATIENCE_MS = 3_000
/** The most the ledger takes as a count; a charge never exceeds what was reserved anyway. */
const MOST_TOKENS = 10_000_000

export function callInstance({ ledger, notifier, calls, metrics, log }: Deps): HoldCall {
  return ({ reservation: id, invocation }, keyed) => {
    let ended = false

    async function end(closing: () => Promise<Closed>): Promise<void> {
      if (ended) return // H1
      ended = true
      const closed = calls.behind(carryOut(closing))
      if (!(await within(PATIENCE_MS, closed))) metrics.closed('late') // H2
    }

    async function carryOut(closing: () => Promise<Closed>): Promise<void> {
      const askedMs = performance.now()
      try {
        const { kind } = await closing()
        metrics.closed(kind, performance.now() - askedMs)
        if (kind === 'fenced' || kind === 'unknown') log.warn({ reservation: id, kind }, 'a settlement charged nobody')
      } catch (error) {
        metrics.closed('lost')
        log.error({ err: error, reservation: id }, 'a reservation could not be closed; the ledger will release it')
      }
      if (keyed) notifier.notify(invocation) // H3
    }

    return {
      settle: (usage, answer) =>
        end(() => ledger.settle({ id, usage: bounded(usage), answer: keyed && fits(answer) ? answer : null })),
      release: (reason) => end(() => ledger.release({ id, reason: reason.slice(0, 200) })),
    }
  }
}

function bounded({ promptTokens, completionTokens, estimated }: CountedUsage): SettleItem['usage'] {
  return {
    promptTokens: Math.min(promptTokens, MOST_TOKENS),
    completionTokens: Math.min(completionTokens, MOST_TOKENS),
    estimated,
  }
}

/** A larger answer is charged and not kept; a repeat under its key is told so. */
function fits(answer: SettleItem['answer']): boolean {
  return answer !== null && Buffer.byteLength(answer.body) <= idempotencyKeyLimits.savedAnswerBytes
}

/** Whether the work ended in time. */
async function within(limitMs: number, work: Promise<void>): Promise<boolean> {
  const late = Promise.withResolvers<false>()
  const timer = setTimeout(() => late.resolve(false), limitMs)
  const inTime = await Promise.race([work.then(() => true), late.promise])
  clearTimeout(timer)
  return inTime
}
