import type { Request, RequestHandler, Response } from 'express'
import type { AdmitCall } from './admit/admit-call.ts'
import type { Place, ConcurrencyLimiter } from './admit/concurrency-limiter.ts'
import type { AdmissionQueueLimit } from './admit/admission-queue-limit.ts'
import type { AnswerJson } from './answer/answer-json.ts'
import type { AnswerStream } from './answer/answer-stream.ts'
import { failureLine } from './answer/event-lines.ts'
import { openResponseStream } from './answer/response-stream.ts'
import { sendReplay } from './answer/send-replay.ts'
import type { Call } from './call/call.ts'
import type { HoldCall } from './call/reservation.ts'
import type { OpenCalls } from './call/open-calls.ts'
import type { Metrics } from './metrics.ts'
import { goneOf } from './receive/gone-of.ts'
import { inPlace } from './receive/in-place.ts'
import { readKey } from './receive/read-key.ts'
import { receiveChat } from './receive/receive-chat.ts'
import type { ExplainFailure } from './refuse/explain-failure.ts'
import { namesSandbox, type AnswerBySandbox } from './sandbox-model.ts'
import type { Trace } from './trace.ts'

interface Deps {
  places: Pick<ConcurrencyLimiter, 'take'>
  admissionQueueLimit: Pick<AdmissionQueueLimit, 'refuseIfFull'>
  calls: Pick<OpenCalls, 'run'>
  admit: AdmitCall
  hold: HoldCall
  answerJson: AnswerJson
  answerStream: AnswerStream
  answerBySandbox: AnswerBySandbox
  explain: ExplainFailure
  metrics: Pick<Metrics, 'answered'>
  trace: Trace
  /** Unix milliseconds. */
  now: () => number
}

/** POST /v1/chat/completions (spec 4.2): receive, admit, call, settle, answer. */
export function chatCompletions({
  places,
  admissionQueueLimit,
  calls,
  admit,
  hold,
  answerJson,
  answerStream,
  answerBySandbox,
  explain,
  metrics,
  trace,
  now,
}: Deps): RequestHandler {
  return (req, res) => {
    const keyHash = readKey(req)
    admissionQueueLimit.refuseIfFull()
    const work = (place: Place) => trace.received(req.headers, NAME, () => complete(req, res, keyHash, place))
    return inPlace(places, res, keyHash, (place) => calls.run(() => work(place)))
  }

  async function complete(req: Request, res: Response, keyHash: string, place: Place): Promise<void> {
    const startedMs = now()
    const gone = goneOf(res)
    const chat = await receiveChat(req, keyHash)
    if (namesSandbox(chat.request.model)) {
      await trace('run', () => answerBySandbox(res, chat, { gone, place }))
      return metrics.answered('sandbox', now() - startedMs)
    }
    const entrance = await trace('admit', () => admit(chat, { gone, place }))
    res.setHeader('X-Service-Invocation', entrance.invocation)
    if (entrance.kind === 'replay') {
      sendReplay(res, entrance)
      return metrics.answered('replay', now() - startedMs)
    }
    const { request } = chat
    const keyed = chat.idempotency !== null
    const call = { request, admitted: entrance, keyed, hold: hold(entrance, keyed), timing: { providerMs: 0 } }
    await trace('call', () => answer(res, call))
    metrics.answered(request.stream ? 'stream' : 'json', now() - startedMs, call.timing.providerMs)
  }

  /** Whatever fails before the settlement is not charged. */
  async function answer(res: Response, call: Call): Promise<void> {
    const reader = call.request.stream ? openResponseStream(res, { now }) : null
    try {
      await (reader ? answerStream(reader, call) : answerJson(res, call))
    } catch (error) {
      await call.hold.release(error instanceof Error ? error.message : 'failed')
      if (!reader?.isOpen()) throw error
      reader.end(failureLine(explain(error, res)))
    }
  }
}

const NAME = 'POST /v1/chat/completions'
