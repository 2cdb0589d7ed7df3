import type { ChatCall, ChatChunk, Completion } from './chat-port.ts'
import type { ReadError } from './error-facts.ts'

/** A call to one provider. */
export interface WireCall extends Pick<ChatCall, 'forwarded' | 'outputCap' | 'stream'> {
  /** The provider's name of the model. */
  model: string
}

/** One POST to a provider. */
export interface WireRequest {
  /** Appended to the path of the base address. */
  path: string
  /** Alternating names and values, in addition to the headers of every request. */
  headers: string[]
  body: string
}

/** Writes calls for a provider and reads its responses. No connection, no clock. */
export interface WireFormat {
  /** Throws `NotInWireFormat`. */
  request(call: WireCall): WireRequest | Promise<WireRequest>
  /** Reads the body of a response. Throws `UnfitAnswer` or `ErrorInAnswer`. */
  readCompletion(body: unknown): Completion
  /** Framing of streams. Default: `text/event-stream`. */
  framing?: Framing
  /** Opens a reader for the events of one stream. */
  openEvents(): ReadEvent
  /** Reads an error response, if its status and usual fields aren't sufficient. */
  readError?: ReadError
}

/** Splits the bytes of a stream into events. */
export interface Framing {
  /** Required prefix of the content type. */
  contentType: string
  /** Opens one stream; `take` gets each event's data. Throws `UnfitAnswer`, `EventTooLarge`, and errors of `take`. */
  open(take: (data: string) => void): { feed(bytes: Buffer): void }
}

/** An event of a stream exceeds the bounds of chat-port.ts. */
export class EventTooLarge extends Error {}

/**
 * Reads the data of one event: returns a chunk, null if it has no content, or `end` if nothing follows. Throws
 * `UnfitAnswer` or `ErrorInAnswer`.
 */
export type ReadEvent = (data: string) => ChatChunk | null | 'end'

/** No request can be made now because credentials are missing. The message is for the log. */
export class NotReady extends Error {}

/** The part of a call that a wire format can't express, described for the caller without identifying the provider. */
export interface Unsayable {
  /** The field of the request, such as `messages.2.name`. */
  field: string
  /** Problem, as a predicate that follows the field name. */
  problem: string
  /** Resolution, in the imperative. */
  instead: string
}

/** This wire format can't express the call. Another one may. */
export class NotInWireFormat extends Error {
  readonly unsayable: Unsayable

  constructor(field: string, problem: string, instead = 'leave it out') {
    super(`${field} ${problem}`)
    this.unsayable = { field, problem, instead }
  }
}
