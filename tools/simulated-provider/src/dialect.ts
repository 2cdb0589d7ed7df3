/** How one wire format says what is not an answer: its frames, its errors, and what gives this provider away. */
export interface Dialect {
  /** Headers on every answer. */
  headers(callId: string): Record<string, string>
  /** In addition to those, on an answer with an error status. */
  errorHeaders?(status: number): Record<string, string>
  /** An error body as providers write it, their own names included. */
  errorBody(status: number, callId: string): object
  /** Of a request that is wrong. */
  wrongRequest(message: string): object
  /** The content type of a stream; server-sent events, unless it says otherwise. */
  streamType?: string
  /** An event as it is on the wire, where it isn't the text that it is. */
  frame?(event: string): Buffer
  /** What a stream begins with before its first chunk. */
  opening: string
  /** An event that isn't JSON. */
  garbage: string | Buffer
  /** An error inside a stream. */
  errorEvent(callId: string): string
  /** What stands before and after a filler of this many bytes, so that both and it are one event of the answer. */
  aroundFiller(bytes: number): [before: string | Buffer, after: string | Buffer]
}
