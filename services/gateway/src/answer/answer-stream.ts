import { times } from '@gateway/contracts/limits'
import type { ChatChunk, Usage } from '@gateway/providers/chat-port'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import type { CallProvider } from '../call/call-provider.ts'
import type { Call } from '../call/call.ts'
import type { CountUsage } from '@gateway/tokens/counted-usage'
import { Stopping } from '../call/stopping.ts'
import { refusalOfBreak } from '../refuse/refusal-of-failure.ts'
import { eventLines, failureLine } from './event-lines.ts'
import { EVENT_STREAM, type ResponseStream } from './response-stream.ts'
import { openRecording } from './recording.ts'
import { openTextAccumulator } from '@gateway/tokens/text-accumulator'

// An answer as it comes (decisions.md, 3).
//   A1  Headers wait for the provider's first byte, or 10 s. Before them a failure is an HTTP error, after them the last event.
//   A2  A caller who goes or lags never ends the call: it is read to its end, settled on its real usage and, if keyed, saved.
//   A3  `[DONE]` follows the settlement, and follows a whole answer only.
//   A4  An answer that breaks off after its first byte is charged by our own count, and saved as it was sent.

export type AnswerStream = (reader: ResponseStream, call: Call) => Promise<void>

interface Deps {
  provider: Pick<CallProvider, 'chunks'>
  countUsage: CountUsage
  /** Unix milliseconds. */
  now: () => number
  headersWaitMs?: number
}

/** @throws ProviderFailure, Stopping: before the first byte of the answer only */
export function streamAnswer({ provider, countUsage, now, headersWaitMs = times.headersWaitMs }: Deps): AnswerStream {
  return async (reader, call) => {
    const askedMs = now()
    const chunks = await firstByte(provider.chunks(call), reader, headersWaitMs)
    const { model, includeUsage } = call.request
    const created = Math.floor(now() / 1000)
    const lines = eventLines({ invocation: call.admitted.invocation, model, created, includeUsage })
    const recording = openRecording(call.keyed)
    const answered = openTextAccumulator()
    let reported: Usage | null = null
    let broken: ProviderFailure | Stopping | null = null
    try {
      for await (const { choices, usage } of chunks) {
        reported = usage ?? reported
        if (choices.length === 0) continue
        for (const { delta } of choices) answered.append(delta)
        await reader.write(recording.add(lines.chunk(choices))) // A2: never fails, and waits for a while only
      }
    } catch (error) {
      if (!(error instanceof ProviderFailure || error instanceof Stopping)) throw error
      broken = error // A4
    }
    call.timing.providerMs = now() - askedMs
    const usage = await countUsage(broken ? null : reported, call.request, answered.text)
    const last = recording.add(broken ? failureLine(refusalOfBreak(broken)) : lines.end(usage))
    await call.hold.settle(usage, recording.answer(EVENT_STREAM))
    reader.end(last) // A3
  }
}

/** A1 */
async function firstByte(chunks: Promise<AsyncIterable<ChatChunk>>, reader: ResponseStream, waitMs: number) {
  const openLate = setTimeout(reader.open, waitMs)
  try {
    return await chunks
  } finally {
    clearTimeout(openLate)
  }
}
