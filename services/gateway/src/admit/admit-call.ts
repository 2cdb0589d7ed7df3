import type { Id } from '@gateway/contracts/ids'
import type { AdmitItem } from '@gateway/contracts/ledger-items'
import type { Admitted, AdmitOutcome } from '@gateway/contracts/ledger-outcomes'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { Instance } from '@gateway/ledger-client/instance'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { HoldCall } from '../call/reservation.ts'
import { CallerGone } from '../receive/caller-gone.ts'
import type { ReceivedChat } from '../receive/receive-chat.ts'
import { storable } from '../receive/selector.ts'
import type { CountExactly } from '@gateway/tokens/exact-count'
import type { JoinRunning } from './join-running.ts'
import type { Place } from './concurrency-limiter.ts'
import { tooOften, type Exceeded, type Rates } from './rates.ts'
import type { AdmissionQueueLimit } from './admission-queue-limit.ts'

// What a call has to pass before its provider is called. The ledger decides; here is only
//   A1  who has left already: for him nothing is asked;
//   A2  the exact count of a prompt whose bytes alone would refuse it, after which the ledger is asked once more;
//   A3  the rate that an operator has set. Whoever is over it is asked for in nobody's name: the ledger then decides all that
//       comes before money, so that he is told what he would be told anyway, and holds nothing.

/** What a call has come to: money is held for it, or it was answered before. */
export type Entrance = AdmittedCall | Replay

export interface AdmittedCall extends Admitted {
  /** Id of what is held for this attempt; of a first attempt it is the invocation's too. */
  reservation: string
}
export type Replay = Extract<AdmitOutcome, { kind: 'replay' }>
export type Running = Extract<AdmitOutcome, { kind: 'running' }>

export type AdmitCall = (chat: ReceivedChat, caller: AdmittedCaller) => Promise<Entrance>

interface AdmittedCaller {
  /** Aborts when he leaves. */
  gone: AbortSignal
  place: Pick<Place, 'countsFor'>
}

interface Deps {
  ledger: Pick<LedgerClient, 'admit'>
  instance: Pick<Instance, 'id' | 'renew'>
  mint: (prefix: 'inv') => Id<'inv'>
  join: JoinRunning
  countExactly: CountExactly
  rates: Rates
  hold: HoldCall
  admissionQueueLimit: AdmissionQueueLimit
}

/** How long the ledger may take to decide; past it nothing stays reserved and nothing was called. */
const ADMISSION_MS = 5_000
/** An instance that is never on the books. */
const NOBODY = 'nobody'

/**
 * Asks the ledger to admit a call: one question, in which everything is decided (architecture.md, "Chat"). While the first
 * call under the same idempotency key is running, this one joins it.
 * @throws Refusal as the ledger decided, `rate_limited`, `overloaded` or `idempotency_in_progress`
 * @throws LedgerUnavailable
 * @throws CallerGone
 */
export function callAdmitter({
  ledger,
  instance,
  mint,
  join,
  countExactly,
  rates,
  hold,
  admissionQueueLimit,
}: Deps): AdmitCall {
  return async (chat, { gone, place }) => {
    admissionQueueLimit.refuseIfFull()
    const first = await admissionQueueLimit.during(ask)
    return first.kind === 'running' ? join(first, ask, gone) : first

    async function ask(): Promise<Entrance | Running> {
      if (gone.aborted) throw new CallerGone() // A1
      const over = await rates.exceeded(chat.keyHash)
      let decided = await decide(chat, null, over)
      if (decided.outcome.kind === 'refused') {
        const counted = await countExactly({ payer: chat.keyHash, request: chat.request }, decided.outcome)
        if (counted !== null) decided = await decide(chat, counted, over) // A2
      }
      const { id, outcome } = decided
      const project = projectOf(outcome)
      if (project !== null) place.countsFor(project)
      switch (outcome.kind) {
        case 'admitted': {
          const tooMany = await rates.count(chat.keyHash, outcome)
          if (tooMany === null) return { ...outcome, reservation: id }
          await hold({ ...outcome, reservation: id }, chat.idempotency !== null).release(
            'its key or project calls too often',
          )
          throw tooOften(tooMany)
        }
        case 'replay':
        case 'running':
          return outcome
        case 'refused':
          throw refusalFor(outcome, 'chat')
        case 'instance-unknown':
          throw over === null ? new LedgerUnavailable({ why: 'unavailable' }) : tooOften(over) // A3
      }
    }
  }

  async function decide(chat: ReceivedChat, counted: number | null, over: Exceeded | null) {
    const item = { ...itemOf(chat, counted), id: mint('inv'), instance: over === null ? instance.id() : NOBODY }
    let outcome = await ledger.admit(item, { budgetMs: ADMISSION_MS })
    if (outcome.kind === 'instance-unknown' && over === null) {
      await instance.renew()
      outcome = await ledger.admit({ ...item, instance: instance.id() }, { budgetMs: ADMISSION_MS })
    }
    return { id: item.id, outcome }
  }
}

function itemOf(
  { keyHash, selector, request, idempotency }: ReceivedChat,
  counted: number | null,
): Omit<AdmitItem, 'op' | 'id' | 'instance'> {
  return {
    keyHash,
    selector,
    model: storable(request.model),
    parameters: request.conditional,
    promptSize: { ...request.promptSize, counted, maxTokens: request.maxTokens },
    idempotency,
  }
}

/** The project of the key, where the ledger names it. */
function projectOf(outcome: AdmitOutcome): string | null {
  if (outcome.kind === 'admitted') return outcome.project
  return outcome.kind === 'refused' ? (outcome.facts.project ?? null) : null
}
