import { idempotencyKeyLimits } from '@gateway/contracts/limits'
import { packAnswer, type SavedAnswer } from './packed-answer.ts'

const { savedAnswerBytes } = idempotencyKeyLimits

/** More than the events of any answer of 8,192 tokens, each a chunk; what is larger is not kept. */
const MAX_CHARACTERS = 8 * savedAnswerBytes

/** Keeps the events of a stream for a replay, as long as they are few enough to be kept. */
export interface Recording {
  /** Answers the events as they are. */
  add(events: string): string
  /** Those that are too large to be kept as they are come packed. */
  answer(contentType: string): Promise<SavedAnswer | null>
}

/** @param wanted false: keeps nothing */
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
