import { openWaiter } from '@gateway/service-kit/async/waiting'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { tooOften } from '../admission/limits.ts'
import { storableRevision } from '../request/read-invocation.ts'
import type { StartAnswer, StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { flowLimits } from '@gateway/api/limits'
import { Refusal, refuse } from '@gateway/api/refusal'
import { activeCarrier } from '@gateway/service-kit/process/spans'
import type { Caller } from '../admission/admission.ts'
import type { Deps } from '../deps.ts'
import { storableId } from '../request/read-headers.ts'
import { noteOnCall } from '../tracing.ts'

// How an execution begins. The ledger decides all of it. Here is only
//   S1  that nothing is asked for a caller who has disconnected already;
//   S2  the subscription, which begins before the ledger is asked, so that no notification of the execution is missed;
//   S3  the rate that an operator has set. A caller beyond it begins nothing, and gets what they began before
//       (rules §2.8);
//   S4  that an execution may have begun though no answer came: a repeat under its idempotency key gets that one.

/** What the caller asks for; the rest is made here. */
export type ExecutionRequest = Pick<StartQuestion, 'sandbox' | 'revision' | 'surface' | 'input' | 'idempotency'> & {
  keyHash: string
  selector: string | null
  /** Micro-USD; null: no ceiling. */
  maxMicro?: number | null
}

export interface Execution extends Extract<StartAnswer, { kind: 'started' }> {
  /** Who asked for it, to be authorised again at each look at its progress. */
  caller: CallerQuestion
  /** It came with an idempotency key. */
  keyed: boolean
  /**
   * Waits for a notification, for the caller to leave or for this process to stop, but not longer than `limitMs`. One wait
   * at a time.
   */
  waitForChange(limitMs: number): Promise<'woken' | 'late'>
  /** Ends the subscription. The route that started the execution closes it. */
  close(): void
  /** Asks for it again: all that a repeat is checked for is checked again (rules §5.2). */
  askAgain(): Promise<void>
}

type Needed = Pick<Deps, 'ledger' | 'notifier' | 'newId' | 'admissionQueueLimit' | 'rates' | 'openCalls'>

/** How long the ledger may take to decide. */
const ADMISSION_MS = 5_000

/** A chat caller is not told what an id names (rules §2.5): what they can't call is not there. */
const NOT_CALLABLE = new Set(['sandbox_not_found', 'revision_not_active'])

/**
 * @param topicOf what is subscribed to of an execution
 * @throws Refusal as the ledger decided, `rate_limited` or `unavailable`; ClientDisconnected
 */
export async function startExecution(
  deps: Needed,
  request: ExecutionRequest,
  { disconnected, permit }: Caller,
  topicOf: (execution: string) => string,
): Promise<Execution> {
  if (disconnected.aborted) throw new ClientDisconnected() // S1
  const { ledger, admissionQueueLimit, rates } = deps
  admissionQueueLimit.refuseIfFull()
  const question = questionOf(deps.newId('exe'), request)
  const exceeded = await rates.exceeded(request.keyHash)
  const subscription = subscribe(deps, topicOf(question.id), disconnected) // S2
  try {
    const started = await admissionQueueLimit.during(ask)
    permit.attributeTo(started.project)
    if (!started.replayed && started.key !== null)
      // it has begun, so it counts even if it is one too many
      await rates.count(request.keyHash, { key: started.key, project: started.project })
    if (started.execution !== question.id) subscription.moveTo(topicOf(started.execution))
    noteOnCall(attributesOf(started))
    const { waitForChange, close } = subscription
    return {
      ...started,
      caller: { keyHash: request.keyHash, selector: request.selector },
      keyed: request.idempotency !== null,
      waitForChange,
      close,
      askAgain: async () => void (await ask()),
    }
  } catch (error) {
    subscription.close()
    throw error
  }

  async function ask() {
    const answer = await ledger
      .startExecution({ ...question, repeatOnly: exceeded !== null }, { budgetMs: ADMISSION_MS })
      .catch((error: unknown) => {
        throw error instanceof LedgerUnavailable ? mayHaveBegun(request.idempotency !== null) : error // S4
      })
    if (!('refused' in answer)) return answer
    const { code, facts } = answer.refused
    if (facts.project !== undefined) permit.attributeTo(facts.project)
    if (code === 'rate_limited' && exceeded !== null) throw tooOften(exceeded) // S3
    if (request.surface === 'invoke') throw refusalFor(answer.refused, 'invoke')
    if (NOT_CALLABLE.has(code)) throw refuse('model_not_found', { model: request.sandbox }, { param: 'model' })
    throw refusalFor(answer.refused, 'chat')
  }
}

/** A subscription to one topic at a time. */
export function subscribe(
  { notifier, openCalls }: Pick<Deps, 'notifier' | 'openCalls'>,
  topic: string,
  disconnected: AbortSignal,
) {
  const waiter = openWaiter([disconnected, openCalls.cancellation])
  let unsubscribe = notifier.subscribe(topic, waiter.wake)
  return {
    waitForChange: waiter.next,
    moveTo(other: string) {
      unsubscribe()
      unsubscribe = notifier.subscribe(other, waiter.wake)
    },
    close() {
      unsubscribe()
      waiter.close()
    },
  }
}

/** @throws Refusal `request_too_large` for an input that grows beyond the limit when it is written compactly */
function questionOf(
  id: string,
  { keyHash, selector, sandbox, revision, maxMicro = null, ...rest }: ExecutionRequest,
): StartQuestion {
  if (Buffer.byteLength(JSON.stringify(rest.input)) > flowLimits.bodyBytes)
    throw refuse('request_too_large', { limitBytes: flowLimits.bodyBytes })
  return {
    id,
    caller: { keyHash, selector },
    sandbox: storableId(sandbox),
    revision: storableRevision(revision),
    ...rest,
    maxMicro,
    trace: activeCarrier(), // for the nodes to continue with
  }
}

function attributesOf({ execution, project, sandbox, replayed }: Extract<StartAnswer, { kind: 'started' }>) {
  return {
    'service.invocation': execution,
    'service.execution': execution,
    'service.project': project,
    'service.sandbox': sandbox,
    ...(replayed && { 'service.replayed': true }),
  }
}

function mayHaveBegun(keyed: boolean): Refusal {
  return new Refusal(
    'unavailable',
    'A part of the service cannot be reached, so it is not known whether the execution has begun.',
    keyed
      ? 'Repeat the request with the same Idempotency-Key after Retry-After seconds: it answers the execution that began, or begins one.'
      : 'Repeat the request after Retry-After seconds; send an Idempotency-Key, so that a repeat answers the execution that began.',
  )
}
