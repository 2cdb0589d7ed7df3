import type { ChatCall, ChatChunk, Completion } from '@gateway/providers/chat-port'
import type { Providers } from '@gateway/providers/open-providers'
import type { Call } from './call.ts'
import { forwardedFor } from '@gateway/providers/forwarded-for'

/** Calls whoever serves the admitted product. Both reject with ProviderFailure or Stopping. */
export interface CallProvider {
  completion(call: Call): Promise<Completion>
  /** Resolves at the first chunk. Of the chunks only one reader may be made, and it reads to the end. */
  chunks(call: Call): Promise<AsyncIterable<ChatChunk>>
}

interface Deps {
  providers: Pick<Providers, 'chat'>
  /** Aborts when running calls have to end now. Their time limit of 300 s is the providers' to hold. */
  ending: AbortSignal
}

export function providerCaller({ providers, ending }: Deps): CallProvider {
  return {
    async completion(call) {
      const answer = await providers.chat(chatCall(call))
      if (answer.kind === 'completion') return answer.completion
      throw new Error('an answer was streamed that was not to be')
    },
    async chunks(call) {
      const answer = await providers.chat(chatCall(call))
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
