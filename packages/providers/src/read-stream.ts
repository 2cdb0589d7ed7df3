import { embeddingLimits } from '@gateway/api/limits'
import type { Pool } from 'undici'
import type { Delta } from '@gateway/api/chat-answer'
import {
  callIdOf,
  type ChatChunk,
  type Completion,
  maxCompletionBytes,
  maxEventCharacters,
  maxStreamBytes,
  maxToolCalls,
} from './chat-port.ts'
import { type Embeddings, type EmbeddingWire, type EmbeddingWish, maxEmbeddingBytes } from './provider-adapter.ts'
import { openChunkQueue } from './chunk-queue.ts'
import { openFinishLast } from './finish-last.ts'
import { type Exchange, type ExchangeRequest, startExchange } from './exchange.ts'
import { ProviderFailure } from './provider-failure.ts'
import { parseUntrusted, text, UnfitAnswer } from './untrusted.ts'
import { EventTooLarge, type Framing, type WireFormat } from './wire-format.ts'
import { createParser } from 'eventsource-parser'

interface StreamRequest extends Omit<ExchangeRequest, 'maxBytes'> {
  /** Called once when the stream ends after its first chunk, with null if complete. Not called if its reader left. */
  ended: (failure: ProviderFailure | null) => void
}

/**
 * Sends the request and resolves at the first chunk. A failure before it rejects the promise; a failure after it is
 * thrown by the iterable.
 *   S1  A stream is complete after a finish reason followed by its end marker or the clean end of the body. Any other
 *       end is `cut`, so that a truncated response never looks complete.
 *   S2  Events without content don't count as the first byte: until then another provider can take over, and nothing is
 *       charged.
 *   S3  A slow reader pauses the connection; a reader that leaves closes it.
 *   S4  The finish reason is in the last chunk that is passed on, whichever had it.
 */
export function readStream(
  pool: Pool,
  { ended, ...request }: StreamRequest,
  wire: WireFormat,
): Promise<AsyncIterable<ChatChunk>> {
  return new Promise((resolve, reject) => {
    const { provider } = request
    const read = wire.openEvents()
    let begun = false
    let finishReasonSeen = false
    let complete = false
    const finishLast = openFinishLast()

    const queue = openChunkQueue<ChatChunk>({
      full: () => exchange.pause(),
      drained: () => exchange.resume(),
      left: () => exchange.leave(),
    })
    const { contentType, open } = wire.framing ?? serverSentEvents
    const frames = open(takeEvent)

    function take(bytes: Buffer): void {
      try {
        frames.feed(bytes)
      } catch (error) {
        if (!(error instanceof EventTooLarge)) throw error
        throw new ProviderFailure({
          kind: 'too_large',
          provider,
          detail: 'an event is too large',
          afterFirstByte: begun,
        })
      }
    }

    function takeEvent(data: string): void {
      if (complete) return
      const chunk = read(data)
      if (chunk === null) return
      if (chunk === 'end') return finish()
      finishReasonSeen ||= chunk.choices.some((choice) => choice.finish_reason !== null)
      for (const passed of finishLast.take(chunk)) queue.push(passed) // S4
      if (begun) return
      begun = true
      exchange.firstByte(true)
      resolve(queue.items)
    }

    function finish(): void {
      if (!finishReasonSeen)
        throw new ProviderFailure({
          kind: 'cut',
          provider,
          detail: 'the stream has no finish reason',
          afterFirstByte: begun,
        })
      complete = true
      for (const passed of finishLast.end()) queue.push(passed)
      queue.end()
      ended(null)
    }

    const exchange: Exchange = startExchange(
      pool,
      { ...request, maxBytes: maxStreamBytes },
      {
        begin(headers) {
          if (!String(headers['content-type']).startsWith(contentType))
            throw new UnfitAnswer(`the content type is not ${contentType}`)
        },
        take,
        end() {
          if (!complete) finish()
        },
        fail(reason) {
          for (const passed of finishLast.end()) queue.push(passed)
          queue.fail(reason)
          reject(reason)
          if (begun && !complete && reason instanceof ProviderFailure) ended(reason)
        },
      },
    )
  })
}

/**
 * Sends the request and reads the whole response. Nothing of it is forwarded before its end, so any failure can be
 * followed by another attempt.
 */
export function readCompletion(
  pool: Pool,
  request: Omit<ExchangeRequest, 'maxBytes'>,
  wire: WireFormat,
): Promise<Completion> {
  return readJson(pool, { ...request, maxBytes: maxCompletionBytes }, (body) => wire.readCompletion(body))
}

/** Sends the request and reads its vectors. */
export function readEmbeddings(
  pool: Pool,
  request: Omit<ExchangeRequest, 'maxBytes'>,
  wire: EmbeddingWire,
  wish: EmbeddingWish,
): Promise<Embeddings> {
  const limit = mayExceed(wish, maxEmbeddingBytes) ? { limitBytes: maxEmbeddingBytes } : {}
  return readJson(pool, { ...request, maxBytes: maxEmbeddingBytes, ...limit }, (body) => wire.read(body, wish))
}

/** Whether that many vectors can be this large. If not, the provider is at fault for a larger response. */
function mayExceed({ inputs, dimensions }: EmbeddingWish, bytes: number): boolean {
  const vectors = inputs.kind === 'texts' ? inputs.texts.length : inputs.tokens.length
  return vectors * (dimensions ?? embeddingLimits.dimensions.max) * MAX_BYTES_PER_NUMBER > bytes
}

/** A number as text, with a space and a comma. */
const MAX_BYTES_PER_NUMBER = 26

function readJson<Answer>(pool: Pool, request: ExchangeRequest, read: (body: unknown) => Answer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const exchange: Exchange = startExchange(pool, request, {
      begin(headers) {
        if (!String(headers['content-type']).startsWith('application/json'))
          throw new UnfitAnswer('the content type is not application/json')
        exchange.firstByte(false)
      },
      take: (bytes) => void parts.push(bytes),
      end: () => resolve(read(parseUntrusted(whole(parts), 'the body'))),
      fail: reject,
    })
  })
}

function whole(parts: Buffer[]): string {
  const [first = Buffer.alloc(0)] = parts
  return (parts.length === 1 ? first : Buffer.concat(parts)).toString()
}

/** Server-sent events, the framing of most providers. */
const serverSentEvents: Framing = {
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

// Block streams of Anthropic and Bedrock: text, thinking and tool calls are in blocks that are opened, filled and
// closed. The provider's block index counts all blocks; our tool call index counts only tool calls.

interface OpenCall {
  /** Position among the tool calls of the response. */
  index: number
  hasArguments: boolean
}

/** Writes the chunks of one stream. */
export interface BlockStream {
  /** The first chunk carries the role. */
  chunk(delta: Delta): ChatChunk
  /** Returns null for an empty text. */
  says(field: 'content' | 'reasoning_content', words: string): ChatChunk | null
  /** Throws `UnfitAnswer`. */
  startCall(block: unknown, id: unknown, name: unknown): ChatChunk
  /** Throws `UnfitAnswer` for arguments without a call. */
  moreArguments(block: unknown, json: string): ChatChunk | null
  /** A tool call without arguments has no deltas. Callers parse arguments, so it gets an empty object. */
  stop(block: unknown): ChatChunk | null
}

export function openBlockStream(): BlockStream {
  let role: Pick<Delta, 'role'> = { role: 'assistant' }
  const calls = new Map<unknown, OpenCall>()

  function chunk(delta: Delta): ChatChunk {
    const whole = { index: 0 as const, delta: { ...role, ...delta }, finish_reason: null }
    role = {}
    return { choices: [whole], usage: null }
  }

  function given(call: OpenCall, json: string): ChatChunk {
    call.hasArguments = true
    return chunk({ tool_calls: [{ index: call.index, function: { arguments: json } }] })
  }

  return {
    chunk,
    says: (field, words) => (words === '' ? null : chunk({ [field]: words })),
    startCall(block, providersId, called) {
      if (calls.size >= maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
      const call = { index: calls.size, hasArguments: false }
      calls.set(block, call)
      const [id, name] = [callIdOf(text(providersId, 'tool call id')), text(called, 'tool name')]
      return chunk({ tool_calls: [{ index: call.index, id, type: 'function', function: { name, arguments: '' } }] })
    },
    moreArguments(block, json) {
      const call = calls.get(block)
      if (!call) throw new UnfitAnswer('arguments of no tool call')
      return json === '' ? null : given(call, json)
    },
    stop(block) {
      const call = calls.get(block)
      return call && !call.hasArguments ? given(call, '{}') : null
    },
  }
}
