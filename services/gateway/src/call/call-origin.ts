import type { ChatCall, ChatChunk, Completion } from '@gateway/origins/chat-port'
import type { Origins } from '@gateway/origins/open-origins'
import type { Call } from './call.ts'
import { forwardedFor } from '@gateway/paid-call/forwarded-for'

/** Calls whoever serves the admitted product. Both reject with OriginFailure or Stopping. */
export interface CallOrigin {
  completion(call: Call): Promise<Completion>
  /** Resolves at the first chunk. Of the chunks only one reader may be made, and it reads to the end. */
  chunks(call: Call): Promise<AsyncIterable<ChatChunk>>
}

interface Needs {
  origins: Pick<Origins, 'chat'>
  /** Aborts when running calls have to end now. Their time limit of 300 s is the origins' to hold. */
  ending: AbortSignal
}

export function originCaller({ origins, ending }: Needs): CallOrigin {
  return {
    async completion(call) {
      const answer = await origins.chat(chatCall(call))
      if (answer.kind === 'completion') return answer.completion
      throw new Error('an answer was streamed that was not to be')
    },
    async chunks(call) {
      const answer = await origins.chat(chatCall(call))
      if (answer.kind === 'stream') return answer.chunks
      throw new Error('an answer came in one piece that was to be streamed')
    },
  }

  function chatCall({ request, admitted: { routes, outputCap, supportedParameters } }: Call): ChatCall {
    return {
      routes,
      forwarded: forwardedFor(request, supportedParameters),
      outputCap,
      stream: request.stream,
      signal: ending,
    }
  }
}
