import type { ChatCall, ChatChunk, Completion } from './chat-port.ts'
import type { ReadError } from './error-facts.ts'

/** A call as one provider gets it. */
export interface WireCall extends Pick<ChatCall, 'forwarded' | 'outputCap' | 'stream'> {
  /** The model's name there. */
  model: string
}

/** One POST to a provider. */
export interface WireRequest {
  /** Behind the path of the base address. */
  path: string
  /** In addition to those that every request carries; names and values in turn. */
  headers: string[]
  body: string
}

/** How calls are written for a provider, and how what it answers is read. No connection, no clock. */
export interface WireFormat {
  /** Throws `NotInWireFormat`. */
  request(call: WireCall): WireRequest | Promise<WireRequest>
  /** Reads the body of an answer. Throws `UnfitAnswer` or `ErrorInAnswer`. */
  readCompletion(body: unknown): Completion
  /** How the events of a stream follow each other: `text/event-stream`, unless it says otherwise. */
  framing?: Framing
  /** For the events of one stream. */
  openEvents(): ReadEvent
  /** What an error answer says, where its status and its usual fields don't say it. */
  readError?: ReadError
}

/** How the bytes of a stream are cut into events. */
export interface Framing {
  /** What the content type of a stream begins with. */
  contentType: string
  /** For one stream; `take` gets the data of each event. Throws `UnfitAnswer` or `EventTooLarge`, and what `take` throws. */
  open(take: (data: string) => void): { feed(bytes: Buffer): void }
}

/** An event of a stream exceeds the bounds of chat-port.ts. */
export class EventTooLarge extends Error {}

/**
 * Reads the data of one event: a chunk, null where it says nothing that counts as an answer, `end` when nothing follows.
 * Throws `UnfitAnswer` or `ErrorInAnswer`.
 */
export type ReadEvent = (data: string) => ChatChunk | null | 'end'

/** A request can't be made now, no matter what it says: its credentials are missing. The message is for the log. */
export class NotReady extends Error {}

/** What of a call can't be said, in words for its caller: nothing in them tells the provider. */
export interface Unsayable {
  /** The field of the request, such as `messages.2.name`. */
  field: string
  /** What is the matter with it, to follow its name. */
  problem: string
  /** What clears it, as an order. */
  instead: string
}

/** What the call asks for cannot be said in this wire format; in another it may be. */
export class NotInWireFormat extends Error {
  readonly unsayable: Unsayable

  constructor(field: string, problem: string, instead = 'leave it out') {
    super(`${field} ${problem}`)
    this.unsayable = { field, problem, instead }
  }
}
