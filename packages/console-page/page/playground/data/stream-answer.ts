import type { RefusalBody } from '@gateway/api/refusal'
import { ApiRefusal } from '@gateway/api-client/failures'
import { failedBy } from '../../api/failed.ts'
import type { Answer, AnswerRefusal } from '../core/conversation.ts'
import { openEventData } from '../core/event-data.ts'
import type { ChatBody } from '../core/messages-of.ts'
import { applyChunk, type Chunk } from '../core/apply-chunk.ts'
import { askingWith } from './ask-gateway.ts'

type Change = (answer: Answer) => Answer

/** Sends a request and reports each change of the response. Never rejects: an error is part of the response. */
export async function streamAnswer(
  { secret, body, signal }: { secret: string; body: ChatBody; signal: AbortSignal },
  change: (change: Change) => void,
): Promise<void> {
  const began = performance.now()
  const ms = () => Math.round(performance.now() - began)
  let isWhole = false
  try {
    const answer = await askingWith(secret).raw('POST', '/v1/chat/completions', { body, signal })
    const invocation = answer.headers.get('X-Service-Invocation')
    change((before) => ({ ...before, invocation }))
    const read = openEventData((data) => {
      if (data === '[DONE]') return void (isWhole = true)
      const event = JSON.parse(data) as Chunk | { error: RefusalBody }
      if ('error' in event) throw new ApiRefusal(answer, event.error)
      change((before) => applyChunk(before, event, ms()))
    })
    for await (const piece of pieces(answer)) read(piece)
    if (!isWhole) throw new Error('The response was truncated.')
    change((before) => ({ ...before, state: 'whole', totalMs: ms() }))
  } catch (error) {
    change((before) => ended(before, signal.aborted ? null : error, ms()))
  }
}

/** @param error null if the user stopped it */
function ended(answer: Answer, error: unknown, totalMs: number): Answer {
  if (error === null) return { ...answer, state: 'stopped', totalMs }
  // Nothing is charged before admission.
  const chargedMicro = answer.invocation === null ? 0 : answer.chargedMicro
  return { ...answer, state: 'refused', totalMs, chargedMicro, refusal: refusalOf(error, answer.invocation) }
}

function refusalOf(error: unknown, invocation: string | null): AnswerRefusal {
  // The connection was lost after admission: the call continues and is charged.
  if (invocation !== null && !(error instanceof ApiRefusal)) return truncated
  const { message, resolution, code, requestId } = failedBy(error)
  return { message, resolution, code, requestId, details: error instanceof ApiRefusal ? error.details : {} }
}

const truncated: AnswerRefusal = {
  code: 'not_reached',
  message: 'The response was truncated.',
  resolution: 'Check the connection and try again. The call continues to its end and is charged in full.',
  requestId: null,
  details: {},
}

async function* pieces(answer: Response): AsyncGenerator<string> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
