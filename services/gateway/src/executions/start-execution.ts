import { openWaiter } from '@gateway/service-kit/async/waiting'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { tooOften } from '../rates/rates.ts'
import { storableRevision } from '../request/read-invocation.ts'
import {
  type StartAnswer,
  type StartQuestion,
  isLinesTopic,
  type PushedLines,
  readPushed,
} from '@gateway/ledger-protocol/flow-reads'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { idOfRequest } from '@gateway/api/ids'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { activeCarrier } from '@gateway/service-kit/process/spans'
import type { Caller } from '../admission/admission.ts'
import type { Deps } from '../deps.ts'
import { storableId } from '../request/read-headers.ts'
import { mayHaveBegun } from '../errors/explain-error.ts'
import { noteOnCall } from '../tracing.ts'

// Starts an execution. The ledger decides everything; the gateway adds:
//   S1  Nothing is asked for a caller that has already disconnected.
//   S2  The subscription starts before the ledger is asked, so that no notification of the execution is missed.
//   S3  A caller over the operator's rate limit starts nothing new, but still gets earlier executions (rules §2.8).
//   S4  An execution may have started even if no response arrived. A repeat under its idempotency key gets that one.

/** The caller's part of the question to the ledger. */
export type ExecutionRequest = Pick<StartQuestion, 'sandbox' | 'revision' | 'surface' | 'input' | 'idempotency'> & {
  keyHash: string
  selector: string | null
  /** Of its calls; null: that of the key, if it has one. */
  tag: string | null
  /** Micro-USD; null for no ceiling. */
  maxMicro?: number | null
}

export interface Execution extends Extract<StartAnswer, { kind: 'started' }> {
  /** Authorized again at each poll of the progress. */
  caller: CallerQuestion
  /** Whether it has an idempotency key. */
  keyed: boolean
  /** `x-ratelimit-*` of the response; none for a repeat, which takes no place within the limits. */
  rateHeaders: Record<string, string>
  /**
   * Waits for a notification, for the caller to disconnect or for this process to stop, at most `limitMs`. Allows one
   * wait at a time.
   */
  waitForChange(limitMs: number): Promise<'woken' | 'late'>
  /** Lines sent by the ledger, if it is subscribed to them. */
  pushed: PushedQueue
  /** Ends the subscription. The route that started the execution closes it. */
  close(): void
  /**
   * Asks the ledger again, which repeats every check of a repeat (rules §5.2).
   * @throws Refusal; LedgerUnavailable
   */
  askAgain(): Promise<void>
}

type Needed = Pick<Deps, 'ledger' | 'notifier' | 'admissionQueueLimit' | 'rates' | 'openCalls'>

/** Timeout of the ledger's decision. */
const ADMISSION_MS = 5_000

/** Codes that a chat caller sees as `model_not_found`: what they can't call doesn't exist for them (rules §2.5). */
const NOT_CALLABLE = new Set(['sandbox_not_found', 'revision_not_active'])

/**
 * @param topicOf topic to subscribe to for an execution
 * @throws Refusal as the ledger decided, `rate_limited` or `unavailable`; ClientDisconnected
 */
export async function startExecution(
  deps: Needed,
  request: ExecutionRequest,
  { requestId, disconnected }: Pick<Caller, 'requestId' | 'disconnected'>,
  topicOf: (execution: string) => string,
): Promise<Execution> {
  if (disconnected.aborted) throw new ClientDisconnected() // S1
  const { ledger, admissionQueueLimit, rates } = deps
  admissionQueueLimit.refuseIfFull()
  const question = questionOf(idOfRequest('exe', requestId), request)
  const place = await rates.take(request.keyHash, question.id, null)
  const subscription = subscribe(deps, topicOf(question.id), disconnected) // S2
  try {
    const started = await admissionQueueLimit.during(() => ask().catch(mayHaveBegunIfAway))
    if (started.replayed && 'undo' in place) place.undo()
    if (started.execution !== question.id) subscription.moveTo(topicOf(started.execution))
    noteOnCall(attributesOf(started))
    const { waitForChange, pushed, close } = subscription
    return {
      ...started,
      caller: { keyHash: request.keyHash, selector: request.selector },
      keyed: request.idempotency !== null,
      rateHeaders: started.replayed || 'exceeded' in place ? {} : place.headers,
      waitForChange,
      pushed,
      close,
      askAgain: async () => void (await ask()),
    }
  } catch (error) {
    if ('undo' in place) place.undo()
    subscription.close()
    throw error
  }

  async function ask() {
    const repeatOnly = 'exceeded' in place
    const answer = await ledger.startExecution({ ...question, repeatOnly }, { budgetMs: ADMISSION_MS })
    if (!('refused' in answer)) return answer
    const { code } = answer.refused
    if (code === 'rate_limited' && 'exceeded' in place) throw tooOften(place) // S3
    if (request.surface === 'invoke') throw refusalFor(answer.refused, 'invoke')
    if (NOT_CALLABLE.has(code)) throw refuse('model_not_found', { model: request.sandbox }, { param: 'model' })
    throw refusalFor(answer.refused, 'chat')
  }

  /** S4 */
  function mayHaveBegunIfAway(error: unknown): never {
    if (!(error instanceof LedgerUnavailable)) throw error
    throw mayHaveBegun({ execution: question.id, keyed: request.idempotency !== null })
  }
}

/** A subscription to one topic at a time: to notifications, or to the lines of an execution. */
export function subscribe(
  { notifier, openCalls }: Pick<Deps, 'notifier' | 'openCalls'>,
  topic: string,
  disconnected: AbortSignal,
) {
  const waiter = openWaiter([disconnected, openCalls.cancellation])
  const pushed = openPushedQueue()
  const onText = (text: string | null) => {
    if (text !== null) pushed.add(text)
    waiter.wake()
  }
  const begin = (to: string) => (isLinesTopic(to) ? notifier.receive(to, onText) : notifier.subscribe(to, waiter.wake))
  let unsubscribe = begin(topic)
  return {
    waitForChange: waiter.next,
    pushed,
    moveTo(other: string) {
      unsubscribe()
      unsubscribe = begin(other)
    },
    close() {
      unsubscribe()
      waiter.close()
    },
  }
}

/** @throws Refusal `request_too_large` for an input that exceeds the limit once serialized compactly */
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
    trace: activeCarrier(), // the trace that the nodes continue
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

/** Lines that the ledger has sent and the reader does not have yet. */
interface PushedQueue {
  add(text: string): void
  /**
   * Returns the lines that continue after this one, or null: there are none, or some are missing and must be read.
   */
  take(after: number): PushedLines | null
}

/** Of all waiting texts. Beyond it they are dropped, and read once the reader has caught up. */
const MAX_CHARACTERS = 1024 * 1024

export function openPushedQueue(): PushedQueue {
  let waiting: PushedLines[] = []
  let characters = 0

  function drop(): void {
    waiting = []
    characters = 0
  }

  return {
    add(text) {
      const pushed = readPushed(text)
      if (pushed === null) return
      characters += pushed.lines.length
      if (characters > MAX_CHARACTERS) drop()
      else waiting.push(pushed)
    },
    take(after) {
      const taken: PushedLines = { after, seq: after, done: false, lines: '' }
      for (const pushed of waiting) {
        if (pushed.seq <= taken.seq) continue // the reader has them
        if (pushed.after !== taken.seq || pushed.lines === '') break
        taken.lines += pushed.lines
        taken.seq = pushed.seq
        taken.done = pushed.done
      }
      waiting = waiting.filter(({ seq }) => seq > taken.seq)
      characters = waiting.reduce((sum, { lines }) => sum + lines.length, 0)
      return taken.seq > after ? taken : null
    },
  }
}
