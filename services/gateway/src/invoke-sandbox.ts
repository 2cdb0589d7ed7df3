import type { Request, RequestHandler, Response } from 'express'
import type { Place, ConcurrencyLimiter } from './admit/concurrency-limiter.ts'
import type { AdmissionQueueLimit } from './admit/admission-queue-limit.ts'
import { JSON_LINES, openResponseStream } from './answer/response-stream.ts'
import type { OpenCalls } from './call/open-calls.ts'
import type { Metrics } from './metrics.ts'
import { answerWanted, type AnswerWanted } from './receive/answer-wanted.ts'
import { goneOf } from './receive/gone-of.ts'
import { inPlace } from './receive/in-place.ts'
import { readKey } from './receive/read-key.ts'
import { receiveInvocation } from './receive/receive-invocation.ts'
import { endTopicOf, type AwaitExecution } from './run/await-run.ts'
import { nameExecution } from './run/name-run.ts'
import { sendRecord, type SendImage } from './run/send-run.ts'
import type { Execution, StartExecution } from './run/start-run.ts'
import { lineTopicOf, type StreamProgress } from './run/stream-progress.ts'
import type { Trace } from './trace.ts'

interface Deps {
  places: Pick<ConcurrencyLimiter, 'take'>
  admissionQueueLimit: Pick<AdmissionQueueLimit, 'refuseIfFull'>
  calls: Pick<OpenCalls, 'run'>
  startExecution: StartExecution
  awaitExecution: AwaitExecution
  streamProgress: StreamProgress
  sendImage: SendImage
  metrics: Pick<Metrics, 'invoked'>
  trace: Trace
  /** Unix milliseconds. */
  now: () => number
}

type Sandbox = { id: string }

/** POST /v1/sandbox/{id}/invoke (spec 4.3, 6): receive, begin the run, then follow it or wait for its end. */
export function invokeSandbox(deps: Deps): RequestHandler<Sandbox> {
  const {
    places,
    admissionQueueLimit,
    calls,
    startExecution,
    awaitExecution,
    streamProgress,
    sendImage,
    metrics,
    trace,
    now,
  } = deps

  return (req, res) => {
    const keyHash = readKey(req)
    admissionQueueLimit.refuseIfFull()
    const work = (place: Place) => trace.received(req.headers, NAME, () => invoke(req, res, keyHash, place))
    return inPlace(places, res, keyHash, (place) => calls.run(() => work(place)))
  }

  async function invoke(req: Request<Sandbox>, res: Response, keyHash: string, place: Place): Promise<void> {
    const startedMs = now()
    const gone = goneOf(res)
    const wanted = answerWanted(req)
    const asked = { ...(await receiveInvocation(req, keyHash)), sandbox: req.params.id, surface: 'invoke' as const }
    const topicOf = wanted === 'progress' ? lineTopicOf : endTopicOf
    const execution = await trace('start', () => startExecution(asked, { gone, place }, topicOf))
    nameExecution(res, execution)
    try {
      await trace('run', () => answer(req, res, wanted, execution, gone))
    } finally {
      execution.waiter.close()
    }
    metrics.invoked(wanted, now() - startedMs)
  }

  async function answer(
    req: Request<Sandbox>,
    res: Response,
    wanted: AnswerWanted,
    execution: Execution,
    gone: AbortSignal,
  ) {
    if (wanted === 'progress')
      return streamProgress(openResponseStream(res, { now, kind: JSON_LINES }), execution, gone)
    const record = await awaitExecution(execution, gone)
    if (wanted === 'bytes' && (await sendImage(req, res, record))) return
    sendRecord(res, record)
  }
}

const NAME = 'POST /v1/sandbox/{id}/invoke'
