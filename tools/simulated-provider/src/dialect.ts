/** The parts of a wire format other than responses: its frames, its errors, and its identifying traces. */
export interface Dialect {
  /** Headers on every response. */
  headers(callId: string): Record<string, string>
  /** In addition to those, on a response with an error status. */
  errorHeaders?(status: number): Record<string, string>
  /** An error body as real providers write it, including their names. */
  errorBody(status: number, callId: string): object
  /** The error body for an invalid request. */
  wrongRequest(message: string): object
  /** Content type of a stream; server-sent events by default. */
  streamType?: string
  /** Encodes an event for the wire, if it is not sent as text. */
  frame?(event: string): Buffer
  /** Start of a stream, before its first chunk. */
  opening: string
  /** An event that isn't JSON. */
  garbage: string | Buffer
  /** An error inside a stream. */
  errorEvent(callId: string): string
  /** Text before and after a filler of this many bytes, so that all of it is one event of the response. */
  aroundFiller(bytes: number): [before: string | Buffer, after: string | Buffer]
}
