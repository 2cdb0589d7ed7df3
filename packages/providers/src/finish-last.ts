import type { ChunkChoice, FinishReason } from '@gateway/api/chat-answer'
import { saysNothing } from '@gateway/api/wires/fields'
import type { ChatChunk } from './chat-port.ts'

/** Returns the chunks that can be passed on. */
export interface FinishLast {
  take(chunk: ChatChunk): ChatChunk[]
  /** To be called once, at the end of the stream, complete or not. */
  end(): ChatChunk[]
}

/**
 * Passes the chunks of one stream on with the finish reason in the last one, so that a wire can end its answer with it.
 * Some servers send content after it, or one in every chunk. A chunk with a finish reason waits for the next one or the
 * end. An empty chunk after it adds only its usage.
 */
export function openFinishLast(): FinishLast {
  let held: ChatChunk | null = null
  let reason: FinishReason | null = null

  return {
    take(chunk) {
      const given = chunk.choices.find(({ finish_reason: finish }) => finish !== null)?.finish_reason ?? null
      if (reason === null || reason === 'stop') reason = given ?? reason
      if (held === null) {
        if (given === null) return [chunk]
        held = chunk
        return []
      }
      if (chunk.choices.every(({ delta }) => saysNothing(delta))) {
        held = { choices: withFinish(held.choices, reason), usage: chunk.usage ?? held.usage }
        return []
      }
      const before = { ...held, choices: withFinish(held.choices, null) }
      held = { ...chunk, choices: withFinish(chunk.choices, reason) }
      return [before]
    },
    end() {
      const last = held === null ? [] : [held]
      held = null
      return last
    },
  }
}

function withFinish(choices: ChunkChoice[], finish: FinishReason | null): ChunkChoice[] {
  return choices.map((choice) => ({ ...choice, finish_reason: finish }))
}
