import type { StartAnswer, StartQuestion } from '@gateway/contracts/flow-reads'
import type { Id } from '@gateway/contracts/ids'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { flowLimits } from '@gateway/contracts/limits'
import { Refusal, refuse } from '@gateway/contracts/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { Notifier } from '@gateway/notifier/notifier'
import type { Place } from '../admit/concurrency-limiter.ts'
import { tooOften, type Rates } from '../admit/rates.ts'
import type { AdmissionQueueLimit } from '../admit/admission-queue-limit.ts'
import { CallerGone } from '../receive/caller-gone.ts'
import { storable } from '../receive/selector.ts'
import { openWaiter, type Waiter } from './ear.ts'

// How a run begins. The ledger decides all of it; here is only
//   S1  who has left already: for him nothing is asked;
//   S2  the ear, which listens before the ledger is asked, so that no ring of the run is missed;
//   S3  the rate that an operator has set. Whoever is over it begins nothing, and gets what he began before (decisions.md, 4);
//   S4  that a run may have begun though no answer came: whoever asks again under its idempotency key gets that one.

/** What the caller asks for; the rest is minted here. */
export type ExecutionAsked = Pick<StartQuestion, 'sandbox' | 'revision' | 'surface' | 'input' | 'idempotency'> & {
  keyHash: string
  selector: string | null
}

export interface Execution extends Extract<StartAnswer, { kind: 'started' }> {
  /** It came with an idempotency key. */
  keyed: boolean
  /** Listens to what the run is listened to for. Whoever holds the run closes it. */
  waiter: Waiter
  /** Asks for it once more: all that a repeat is checked for is checked anew (decisions.md, 4). */
  askAgain: () => Promise<void>
}

export interface ExecutionCaller {
  /** Aborts when he leaves. */
  gone: AbortSignal
  place: Pick<Place, 'countsFor'>
}

/** @param topicOf what is listened to of an execution */
export type StartExecution = (
  asked: ExecutionAsked,
  caller: ExecutionCaller,
  topicOf: (execution: string) => string,
) => Promise<Execution>

interface Deps {
  ledger: Pick<LedgerClient, 'startExecution'>
  notifier: Pick<Notifier, 'subscribe'>
  mint: (prefix: 'exe') => Id<'exe'>
  admissionQueueLimit: AdmissionQueueLimit
  rates: Rates
  /** Aborts when waiting has to end, because this process stops. */
  ending: AbortSignal
  /** The caller's trace, for the nodes to go on with; null without one. */
  carrier: () => StartQuestion['trace']
  lookEveryMs?: number
}

/** How long the ledger may take to decide. */
const ADMISSION_MS = 5_000
const MOST_ID_CHARACTERS = 256
/** As high as Postgres counts them; no sandbox product has so many. */
const HIGHEST_REVISION = 2_147_483_647

/** Of a chat call nobody is told what the id names (decisions.md, 1): what can't be called is not there. */
const NOT_CALLABLE = new Set(['sandbox_not_found', 'revision_not_active'])

/** @throws Refusal as the ledger decided, `rate_limited` or `unavailable`; CallerGone */
export function executionStarter(deps: Deps): StartExecution {
  const { ledger, notifier, mint, admissionQueueLimit, rates, ending, carrier, lookEveryMs = 1_000 } = deps

  return async (asked, { gone, place }, topicOf) => {
    if (gone.aborted) throw new CallerGone() // S1
    admissionQueueLimit.refuseIfFull()
    const id = mint('exe')
    const question = questionOf(id, asked, carrier())
    const over = await rates.exceeded(asked.keyHash)
    const waiter = openWaiter({ notifier, signals: [gone, ending], everyMs: lookEveryMs })
    waiter.listenTo(topicOf(id)) // S2
    try {
      const started = await admissionQueueLimit.during(ask)
      place.countsFor(started.project)
      if (!started.replayed && started.key !== null)
        // it has begun, so it counts even if it is one too many
        await rates.count(asked.keyHash, { key: started.key, project: started.project })
      if (started.execution !== id) waiter.listenTo(topicOf(started.execution))
      return { ...started, keyed: asked.idempotency !== null, waiter, askAgain: async () => void (await ask()) }
    } catch (error) {
      waiter.close()
      throw error
    }

    async function ask() {
      const answer = await ledger
        .startExecution({ ...question, repeatOnly: over !== null }, { budgetMs: ADMISSION_MS })
        .catch((error: unknown) => {
          throw error instanceof LedgerUnavailable ? perhapsBegun(asked.idempotency !== null) : error // S4
        })
      if (!('refused' in answer)) return answer
      const { code, facts } = answer.refused
      if (facts.project !== undefined) place.countsFor(facts.project)
      if (code === 'rate_limited' && over !== null) throw tooOften(over) // S3
      if (asked.surface === 'invoke') throw refusalFor(answer.refused, 'invoke')
      if (NOT_CALLABLE.has(code)) throw refuse('model_not_found', { model: asked.sandbox }, { param: 'model' })
      throw refusalFor(answer.refused, 'chat')
    }
  }
}

/** @throws Refusal `request_too_large` for an input that grows beyond the limit when it is written compactly */
function questionOf(id: string, asked: ExecutionAsked, trace: StartQuestion['trace']): StartQuestion {
  const { keyHash, selector, sandbox, revision, ...rest } = asked
  if (Buffer.byteLength(JSON.stringify(asked.input)) > flowLimits.bodyBytes)
    throw refuse('request_too_large', { limitBytes: flowLimits.bodyBytes })
  return {
    id,
    caller: { keyHash, selector },
    sandbox: storable(sandbox).slice(0, MOST_ID_CHARACTERS), // no id of ours is longer
    revision: revision === null ? null : Math.min(revision, HIGHEST_REVISION),
    ...rest,
    trace,
  }
}

function perhapsBegun(keyed: boolean): Refusal {
  return new Refusal(
    'unavailable',
    'A part of the service can not be reached, so it is not known whether the run has begun.',
    keyed
      ? 'Repeat the request with the same Idempotency-Key after Retry-After seconds: it answers the run that began, or begins one.'
      : 'Repeat the request after Retry-After seconds; send an Idempotency-Key, so that a repeat answers the run that began.',
  )
}
