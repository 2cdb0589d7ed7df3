import type { ChatCall, ChatChunk, Completion } from './chat-port.ts'

/** A call as one provider gets it. */
export interface WireCall extends Pick<ChatCall, 'forwarded' | 'outputCap' | 'stream'> {
  /** The model's name there. */
  model: string
}

/** How calls are written for a provider, and how what it answers is read. Pure: no connection, no clock. */
export interface WireFormat {
  /** Behind the path of the base address. */
  path: string
  /** Besides those that every call carries; names and values in turn. */
  headers: string[]
  /** The body of a request. Throws `NotInWireFormat`. */
  write(call: WireCall): string
  /** Reads the body of an answer. Throws `UnfitAnswer` or `ErrorInAnswer`. */
  readCompletion(body: unknown): Completion
  /** For the events of one stream. */
  openEvents(): ReadEvent
}

/**
 * Reads the data of one event: a chunk, null where it says nothing that counts as an answer, `end` when nothing follows.
 * Throws `UnfitAnswer` or `ErrorInAnswer`.
 */
export type ReadEvent = (data: string) => ChatChunk | null | 'end'

/** What the call asks for can not be said in this wire format; in another it may be. The message names it. */
export class NotInWireFormat extends Error {}
