import type { Json, Operation } from '@gateway/testbed/example-request'
import type { WorldCaller } from './world.ts'

/** Whose credential a request carries. */
export type Caller = WorldCaller | 'otherKey' | 'otherAdmin' | 'created' | 'forged' | 'none'

/** How the bytes travel. */
export type Transport =
  | { kind: 'whole' }
  | { kind: 'chunked' }
  /** The client announces more than it sends, and closes. */
  | { kind: 'truncated' }
  /** The client closes after a time without waiting for the response. */
  | { kind: 'aborted'; afterMs: number }
  /** The same request twice at the same time. */
  | { kind: 'twice' }
  /** Bytes that no client library sends: how the head is broken. */
  | { kind: 'raw'; fault: RawFault }

export const rawFaults = [
  'nul in a header',
  'two lengths',
  'length and chunks',
  'broken chunk',
  'endless chunk',
  'negative length',
  'huge length',
  'no host',
  'http/1.0',
  'unknown version',
  'absolute address',
  'lowercase method',
  'unknown method',
  'folded header',
  'header without colon',
  'space in the path',
  'huge head',
  'only line feeds',
  'bare bytes',
  'websocket upgrade',
  'http/2 preface',
] as const
export type RawFault = (typeof rawFaults)[number]

export type Body =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown; schema: Json }
  | { kind: 'bytes'; bytes: Buffer; contentType: string }

/** A request while it is made: the example of an operation, then changed step by step. */
export interface Draft {
  operation: Operation
  caller: Caller
  /** Sent to the console's port, past the gateway. */
  direct: boolean
  method: string
  /** Encoded, without the leading slash. */
  segments: string[]
  /** Encoded, each `name=value`. */
  query: string[]
  headers: [name: string, value: string][]
  body: Body
  transport: Transport
  /** What was changed. Empty: a request as documented. */
  changes: string[]
}

/** A request ready to be sent. */
export interface FuzzRequest {
  n: number
  operation: Operation
  caller: Caller
  direct: boolean
  method: string
  path: string
  headers: [name: string, value: string][]
  body: Buffer | null
  transport: Transport
  changes: string[]
  /** Whether its path names something that its caller must not reach. */
  foreign: boolean
}
