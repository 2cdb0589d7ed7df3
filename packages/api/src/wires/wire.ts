import type { AnswerUsage, Choice, ChunkChoice } from '../chat-answer.ts'
import type { ChatRequest } from '../chat-request.ts'
import type { Refusal } from '../refusal.ts'

// A wire is one way to write a chat call over HTTP. Its folder translates at the edge: the body of a request into the
// chat request that the gateway admits, calls and settles, and the answer of the model into what the caller reads.
// Everything between is the same for all wires (docs/wires.md).

/** Data of images and files that was cut out of a body before it was parsed, by the placeholder that stands for it. */
export type CutData = ReadonlyMap<string, string>

export interface ChatWire {
  /** Part of the fingerprint of a call: an idempotency key can't be reused on another wire. */
  name: 'chat' | 'responses' | 'messages'
  /** Whether a body has images and files as `data:` URLs, or as base64 in fields named `data`. */
  dataForm: 'url' | 'base64'
  /** Yields the strings at the places where a body can have their data. */
  dataOf(body: unknown): Iterable<string>
  /** @throws Refusal `invalid_request` with the field of this wire as `param` */
  read(body: unknown, cut?: CutData): ReadRequest
  /** Body of an error response. */
  errorBody(refusal: Refusal): object
  /** Sent while a stream is silent. It says nothing. */
  keepAlive: string
}

export interface ReadRequest {
  request: ChatRequest
  openAnswer: OpenAnswer
}

export type OpenAnswer = (facts: AnswerFacts) => AnswerWriter

export interface AnswerFacts {
  /** ID of the invocation, or of the execution of a sandbox product. */
  id: string
  /** As requested. */
  model: string
  /** Unix seconds. */
  created: number
}

/** What is known at the end of an answer. */
export interface AnswerEnd {
  usage: AnswerUsage
  /** Charge of the call; null if the ledger returned no price. */
  chargedMicro: number | null
  /** The execution that answered, for a sandbox product. */
  service?: object
}

/** Writes one answer: either `whole`, or `chunk` for each chunk of a stream and then `end` or `broken`. */
export interface AnswerWriter {
  whole(choices: Choice[], end: AnswerEnd): string
  /** Returns the events of a chunk; empty if it is held back. */
  chunk(choices: ChunkChoice[]): string
  /** Returns the last events of a complete answer. May be called again with another charge. */
  end(end: AnswerEnd): string
  /** Returns the last events of an answer that failed or was truncated, so that it never looks complete. May be called once. */
  broken(refusal: Refusal): string
}

/** Comment that keeps proxies from timing out. Readers of events skip it. */
export const commentKeepAlive = ': keep-alive\n\n'
