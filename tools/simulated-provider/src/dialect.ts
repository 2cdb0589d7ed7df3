/** How one wire format says what is not an answer: its frames, its errors, and what gives this provider away. */
export interface Dialect {
  /** Headers on every answer. */
  headers(callId: string): Record<string, string>
  /** An error body as providers write it, their own names included. */
  errorBody(status: number, callId: string): object
  /** Of a request that is wrong. */
  wrongRequest(message: string): object
  /** What a stream begins with before its first chunk. */
  opening: string
  /** An event that isn't JSON. */
  garbage: string
  /** An error inside a stream. */
  errorEvent(callId: string): string
  /** What stands before and after a filler, so that both and it are one event of the answer. */
  aroundFiller: [before: string, after: string]
}
