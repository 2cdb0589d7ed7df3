import type { ServerResponse } from 'node:http'
import type { Deps } from '../deps.ts'
import { explainError } from '../errors/explain-error.ts'
import { refusalOfBreak, refusalOfError } from '../errors/refusal-of-error.ts'
import {
  type Call,
  callForChunks,
  callForCompletion,
  settleAndAnswer,
  reasonOf,
  release,
} from '../provider-call/call-provider.ts'
import {
  EVENT_STREAM,
  eventStream,
  openLate,
  openResponseStream,
  packAnswer,
  type ResponseStream,
  type SavedAnswer,
  unpackAnswer,
} from './response-stream.ts'
import type { AnswerWriter } from '@gateway/api/wires/wire'
import { sendJson, sendText } from '@gateway/service-kit/http/answers'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import type { Completion, Usage } from '@gateway/providers/chat-port'
import { openTextAccumulator } from '@gateway/tokens/token-counter'
import { ProviderFailure, ReaderStalled } from '@gateway/providers/provider-failure'
import { ProcessStopping } from '../admission/limits.ts'
import { markCallFailed } from '../tracing.ts'
import { idempotencyKeyLimits } from '@gateway/api/limits'

type Needed = Parameters<typeof respondJson>[0] &
  Parameters<typeof respondStream>[0] &
  Pick<Deps, 'metrics' | 'log' | 'refusals'>

/**
 * Calls the provider of an admitted call and responds, with or without streaming. A failure before the settlement is
 * not charged.
 */
export async function respond(deps: Needed, res: ServerResponse, call: Call): Promise<void> {
  const stream = call.request.stream ? openResponseStream(res, { now: deps.now, kind: eventStream(call.wire) }) : null
  const answer = call.openAnswer({
    id: call.admitted.invocation,
    model: call.request.model,
    created: Math.floor(deps.now() / 1000),
  })
  try {
    await (stream ? respondStream(deps, stream, call, answer) : respondJson(deps, res, call, answer))
  } catch (error) {
    call.capture?.end(error instanceof ClientDisconnected ? 'disconnected' : refusalOfError(error).code)
    await release(deps, call.reservation, reasonOf(error))
    if (!stream?.isOpen() || error instanceof ClientDisconnected) throw error
    stream.end(answer.broken(explainError(deps, error, res)))
  }
}

type JsonNeeded = Pick<Deps, 'now' | 'countUsage'> &
  Parameters<typeof callForCompletion>[0] &
  Parameters<typeof settleAndAnswer>[0]

/**
 * Responds without streaming: call, settle, send (rules §3.6). The saved response is the sent one, byte for byte.
 * @throws ProviderFailure, ProcessStopping
 */
async function respondJson(deps: JsonNeeded, res: ServerResponse, call: Call, answer: AnswerWriter): Promise<void> {
  const startMs = deps.now()
  const { completion, route } = await callForCompletion(deps, call)
  const { choices, usage: reported } = completion
  call.capture?.append(choices)
  call.timing.providerMs = deps.now() - startMs
  const asked = { request: call.request, project: call.admitted.project, provider: route.provider }
  const usage = await deps.countUsage(reported, asked, () => textOf(choices))
  const body = await settleAndAnswer(
    deps,
    call,
    { usage, route },
    {
      write: (chargedMicro) => answer.whole(choices, { usage, chargedMicro }),
      save: (text) => ({ contentType: 'application/json', body: text }),
    },
  )
  sendJson(res, 200, body)
  call.capture?.end(null)
}

function textOf(choices: Completion['choices']): string {
  const answered = openTextAccumulator()
  for (const { message } of choices) answered.append(message)
  return answered.text()
}

// A streamed response (rules §3.7, §3.8).
//   A1  Headers wait for the provider's first byte, or 10 s. Before them a failure is an HTTP error, after them the
//       last event.
//   A2  A caller that disconnects or lags never ends the call: it is read to its end, settled on its real usage and, if
//       keyed, saved.
//   A3  The last events, with the usage, are sent only after the settlement.
//   A4  A response truncated after its first byte is charged by the gateway's own count and saved as it was sent.

type StreamNeeded = Pick<Deps, 'now' | 'countUsage'> &
  Parameters<typeof callForChunks>[0] &
  Parameters<typeof settleAndAnswer>[0]

/** @throws ProviderFailure, ProcessStopping: only before the first byte of the response */
async function respondStream(
  deps: StreamNeeded,
  stream: ResponseStream,
  call: Call,
  answer: AnswerWriter,
): Promise<void> {
  const startMs = deps.now()
  const { chunks, route } = await openLate(stream, callForChunks(deps, call)) // A1
  const recording = openRecording(call.reservation.keyed)
  const answered = openTextAccumulator()
  let reported: Usage | null = null
  let broken: ProviderFailure | ProcessStopping | ReaderStalled | null = null
  try {
    for await (const { choices, usage } of chunks) {
      reported = usage ?? reported
      if (choices.length === 0) continue
      for (const { delta } of choices) answered.append(delta)
      call.capture?.append(choices)
      const sent = answer.chunk(choices)
      if (sent !== '') await stream.write(recording.add(sent)) // A2: never fails, and waits for a while only
    }
  } catch (error) {
    if (!(error instanceof ProviderFailure || error instanceof ProcessStopping || error instanceof ReaderStalled))
      throw error
    broken = error // A4
    markCallFailed(refusalOfBreak(error))
  }
  call.timing.providerMs = deps.now() - startMs
  const asked = { request: call.request, project: call.admitted.project, provider: route.provider }
  const usage = await deps.countUsage(broken ? 'cut' : reported, asked, answered.text)
  const failed = broken && answer.broken(refusalOfBreak(broken)) // once: it has no cost, and ends what is open
  const last = await settleAndAnswer(
    deps,
    call,
    { usage, route },
    {
      write: (chargedMicro) => failed ?? answer.end({ usage, chargedMicro }),
      save: (text) => {
        recording.add(text)
        return recording.answer(EVENT_STREAM)
      },
    },
  )
  stream.end(last) // A3
  call.capture?.end(broken ? refusalOfBreak(broken).code : null)
}

const { savedAnswerBytes } = idempotencyKeyLimits

/** More than the events of any response of 8,192 tokens in separate chunks. A larger one is not saved. */
const MAX_CHARACTERS = 8 * savedAnswerBytes

/** Records the events of a stream for a replay, up to a size limit. */
export interface Recording {
  /** Returns the events unchanged. */
  add(events: string): string
  /** Returns the recorded response, compressed if it is too large to save plain. */
  answer(contentType: string): Promise<SavedAnswer | null>
}

/** @param wanted false to record nothing */
export function openRecording(wanted: boolean, maxCharacters: number = MAX_CHARACTERS): Recording {
  let body: string | null = wanted ? '' : null
  return {
    add(events) {
      if (body !== null) body = body.length + events.length > maxCharacters ? null : body + events
      return events
    },
    async answer(contentType) {
      if (body === null) return null
      return Buffer.byteLength(body) > savedAnswerBytes ? packAnswer({ contentType, body }) : { contentType, body }
    },
  }
}

/** Sends the saved response of an earlier call with the same idempotency key, byte for byte. */
export async function sendReplay(res: ServerResponse, saved: SavedAnswer): Promise<void> {
  res.setHeader('Idempotent-Replayed', 'true')
  const { contentType, body } = await unpackAnswer(saved)
  sendText(res, 200, body, { 'Content-Type': contentType })
}
