import { createParser } from 'eventsource-parser'
import { maxEventCharacters } from './answer-limits.ts'
import { EventTooLarge, type Framing } from './wire-format.ts'

/** Server-sent events, as most providers stream. */
export const serverSentEvents: Framing = {
  contentType: 'text/event-stream',
  open(take) {
    const decoder = new TextDecoder()
    const parser = createParser({
      maxBufferSize: maxEventCharacters,
      onEvent: ({ data }) => take(data),
      onError(error) {
        if (error.type === 'max-buffer-size-exceeded') throw new EventTooLarge()
      },
    })
    return { feed: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })) }
  },
}
