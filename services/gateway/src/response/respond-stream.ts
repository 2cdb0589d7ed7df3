import type { Usage } from '@gateway/providers/chat-port'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import { openTextAccumulator } from '@gateway/tokens/text-accumulator'
import type { Deps } from '../deps.ts'
import { refusalOfBreak } from '../errors/refusal-of-error.ts'
import { ProcessStopping } from '../open-calls.ts'
import type { Call } from '../provider-call/call.ts'
import { callForChunks } from '../provider-call/call-provider.ts'
import { settleAndTell } from '../provider-call/settle-and-tell.ts'
import { eventLines, failureLine } from './event-lines.ts'
import { openRecording } from './recording.ts'
import { EVENT_STREAM, openLate, type ResponseStream } from './response-stream.ts'

// An answer as it comes (rules §3.7, §3.8).
//   A1  Headers wait for the provider's first byte, or 10 s. Before them a failure is an HTTP error, after them the
//       last event.
//   A2  A caller who leaves or lags never ends the call: it is read to its end, settled on its real usage and, if
//       keyed, saved.
//   A3  `[DONE]` and the chunk with the usage before it follow the settlement, and follow a whole answer only.
//   A4  An answer that breaks off after its first byte is charged by our own count, and saved as it was sent.

type Needed = Pick<Deps, 'now' | 'countUsage'> &
  Parameters<typeof callForChunks>[0] &
  Parameters<typeof settleAndTell>[0]

/** @throws ProviderFailure, ProcessStopping: before the first byte of the answer only */
export async function respondStream(deps: Needed, stream: ResponseStream, call: Call): Promise<void> {
  const startMs = deps.now()
  const chunks = await openLate(stream, callForChunks(deps, call)) // A1
  const { model, includeUsage } = call.request
  const created = Math.floor(deps.now() / 1000)
  const lines = eventLines({ invocation: call.admitted.invocation, model, created, includeUsage })
  const recording = openRecording(call.reservation.keyed)
  const answered = openTextAccumulator()
  let reported: Usage | null = null
  let broken: ProviderFailure | ProcessStopping | null = null
  try {
    for await (const { choices, usage } of chunks) {
      reported = usage ?? reported
      if (choices.length === 0) continue
      for (const { delta } of choices) answered.append(delta)
      await stream.write(recording.add(lines.chunk(choices))) // A2: never fails, and waits for a while only
    }
  } catch (error) {
    if (!(error instanceof ProviderFailure || error instanceof ProcessStopping)) throw error
    broken = error // A4
  }
  call.timing.providerMs = deps.now() - startMs
  const asked = { request: call.request, project: call.admitted.project }
  const usage = await deps.countUsage(broken ? null : reported, asked, answered.text)
  const last = await settleAndTell(deps, call, usage, {
    write: (chargedMicro) => (broken ? failureLine(refusalOfBreak(broken)) : lines.end(usage, chargedMicro)),
    save: (text) => {
      recording.add(text)
      return recording.answer(EVENT_STREAM)
    },
  })
  stream.end(last) // A3
}
