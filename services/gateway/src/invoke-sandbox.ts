import type { Request, RequestHandler, Response } from 'express'
import type { Place, Places } from './admit/places.ts'
import type { WaitingRoom } from './admit/waiting-room.ts'
import { JSON_LINES, openReader } from './answer/reader.ts'
import type { OpenCalls } from './call/open-calls.ts'
import type { Measures } from './measures.ts'
import { answerWanted, type AnswerWanted } from './receive/answer-wanted.ts'
import { goneOf } from './receive/gone-of.ts'
import { inPlace } from './receive/in-place.ts'
import { readKey } from './receive/read-key.ts'
import { receiveInvocation } from './receive/receive-invocation.ts'
import { endTopicOf, type AwaitRun } from './run/await-run.ts'
import { nameRun } from './run/name-run.ts'
import { sendRecord, type SendImage } from './run/send-run.ts'
import type { Run, StartRun } from './run/start-run.ts'
import { lineTopicOf, type StreamProgress } from './run/stream-progress.ts'
import type { Trace } from './trace.ts'

interface Needs {
  places: Pick<Places, 'take'>
  waitingRoom: Pick<WaitingRoom, 'refuseIfFull'>
  calls: Pick<OpenCalls, 'run'>
  startRun: StartRun
  awaitRun: AwaitRun
  streamProgress: StreamProgress
  sendImage: SendImage
  measures: Pick<Measures, 'invoked'>
  trace: Trace
  /** Unix milliseconds. */
  now: () => number
}

type Sandbox = { id: string }

/** POST /v1/sandbox/{id}/invoke (spec 4.3, 6): receive, begin the run, then follow it or wait for its end. */
export function invokeSandbox(needs: Needs): RequestHandler<Sandbox> {
  const { places, waitingRoom, calls, startRun, awaitRun, streamProgress, sendImage, measures, trace, now } = needs

  return (req, res) => {
    const keyHash = readKey(req)
    waitingRoom.refuseIfFull()
    const work = (place: Place) => trace.received(req.headers, NAME, () => invoke(req, res, keyHash, place))
    return inPlace(places, res, keyHash, (place) => calls.run(() => work(place)))
  }

  async function invoke(req: Request<Sandbox>, res: Response, keyHash: string, place: Place): Promise<void> {
    const startedMs = now()
    const gone = goneOf(res)
    const wanted = answerWanted(req)
    const asked = { ...(await receiveInvocation(req, keyHash)), sandbox: req.params.id, surface: 'invoke' as const }
    const topicOf = wanted === 'progress' ? lineTopicOf : endTopicOf
    const run = await trace('start', () => startRun(asked, { gone, place }, topicOf))
    nameRun(res, run)
    try {
      await trace('run', () => answer(req, res, wanted, run, gone))
    } finally {
      run.ear.close()
    }
    measures.invoked(wanted, now() - startedMs)
  }

  async function answer(req: Request<Sandbox>, res: Response, wanted: AnswerWanted, run: Run, gone: AbortSignal) {
    if (wanted === 'progress') return streamProgress(openReader(res, { now, kind: JSON_LINES }), run, gone)
    const record = await awaitRun(run, gone)
    if (wanted === 'bytes' && (await sendImage(req, res, record))) return
    sendRecord(res, record)
  }
}

const NAME = 'POST /v1/sandbox/{id}/invoke'
