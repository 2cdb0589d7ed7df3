import type { Request, RequestHandler, Response } from 'express'
import type { AdmitCall } from './admit/admit-call.ts'
import type { Place, Places } from './admit/places.ts'
import type { WaitingRoom } from './admit/waiting-room.ts'
import type { AnswerJson } from './answer/answer-json.ts'
import type { AnswerStream } from './answer/answer-stream.ts'
import { failureLine } from './answer/event-lines.ts'
import { openReader } from './answer/reader.ts'
import { sendReplay } from './answer/send-replay.ts'
import type { Call } from './call/call.ts'
import type { HoldCall } from './call/hold.ts'
import type { OpenCalls } from './call/open-calls.ts'
import type { Measures } from './measures.ts'
import { goneOf } from './receive/gone-of.ts'
import { inPlace } from './receive/in-place.ts'
import { readKey } from './receive/read-key.ts'
import { receiveChat } from './receive/receive-chat.ts'
import type { ExplainFailure } from './refuse/explain-failure.ts'
import { namesSandbox, type AnswerBySandbox } from './sandbox-model.ts'
import type { Trace } from './trace.ts'

interface Needs {
  places: Pick<Places, 'take'>
  waitingRoom: Pick<WaitingRoom, 'refuseIfFull'>
  calls: Pick<OpenCalls, 'run'>
  admit: AdmitCall
  hold: HoldCall
  answerJson: AnswerJson
  answerStream: AnswerStream
  answerBySandbox: AnswerBySandbox
  explain: ExplainFailure
  measures: Pick<Measures, 'answered'>
  trace: Trace
  /** Unix milliseconds. */
  now: () => number
}

/** POST /v1/chat/completions (spec 4.2): receive, admit, call, settle, answer. */
export function chatCompletions({
  places,
  waitingRoom,
  calls,
  admit,
  hold,
  answerJson,
  answerStream,
  answerBySandbox,
  explain,
  measures,
  trace,
  now,
}: Needs): RequestHandler {
  return (req, res) => {
    const keyHash = readKey(req)
    waitingRoom.refuseIfFull()
    const work = (place: Place) => trace.received(req.headers, NAME, () => complete(req, res, keyHash, place))
    return inPlace(places, res, keyHash, (place) => calls.run(() => work(place)))
  }

  async function complete(req: Request, res: Response, keyHash: string, place: Place): Promise<void> {
    const startedMs = now()
    const gone = goneOf(res)
    const chat = await receiveChat(req, keyHash)
    if (namesSandbox(chat.request.model)) {
      await trace('run', () => answerBySandbox(res, chat, { gone, place }))
      return measures.answered('sandbox', now() - startedMs)
    }
    const entrance = await trace('admit', () => admit(chat, { gone, place }))
    res.setHeader('X-Service-Invocation', entrance.invocation)
    if (entrance.kind === 'replay') {
      sendReplay(res, entrance)
      return measures.answered('replay', now() - startedMs)
    }
    const { request } = chat
    const keyed = chat.idempotency !== null
    const call = { request, admitted: entrance, keyed, hold: hold(entrance, keyed), timing: { originMs: 0 } }
    await trace('call', () => answer(res, call))
    measures.answered(request.stream ? 'stream' : 'json', now() - startedMs, call.timing.originMs)
  }

  /** Whatever fails before the settlement is not charged. */
  async function answer(res: Response, call: Call): Promise<void> {
    const reader = call.request.stream ? openReader(res, { now }) : null
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
