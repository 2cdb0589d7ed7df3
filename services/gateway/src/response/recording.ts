import { idempotencyKeyLimits } from '@gateway/contracts/limits'

/** Keeps the events of a stream for a replay, as long as they are few enough to be kept. */
export interface Recording {
  /** Answers the events as they are. */
  add(events: string): string
  answer(contentType: string): { contentType: string; body: string } | null
}

/** @param wanted false: keeps nothing */
export function openRecording(
  wanted: boolean,
  maxCharacters: number = idempotencyKeyLimits.savedAnswerBytes,
): Recording {
  let body: string | null = wanted ? '' : null
  return {
    add(events) {
      if (body !== null) body = body.length + events.length > maxCharacters ? null : body + events
      return events
    },
    answer: (contentType) => (body === null ? null : { contentType, body }),
  }
}
