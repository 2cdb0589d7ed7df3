import { z } from 'zod'
import type { ServiceName } from './ledger-reads.ts'

// Channels: WebSockets to the ledger that stay open, for messages of lines. Their opening is signed, and each message of
// the service sealed (packages/ledger-client/src/sealed-channel.ts).

export interface ChannelRow {
  path: string
  /** The services that may open one. */
  callers: readonly ServiceName[]
}

export const channels = {
  /** One exchange at a time: a message with items, then messages with their outcomes (ledger-items.ts). */
  items: { path: '/items', callers: ['gateway', 'worker'] },
  /** Many requests at a time, each a line, and their answers in any order. */
  operations: { path: '/operations', callers: ['gateway', 'worker', 'console'] },
} as const satisfies Record<string, ChannelRow>

export const channelLimits = {
  /** Of a service: 512 items, or one saved response (savedAnswerBytes) or completion with JSON escapes. */
  messageBytes: 16 * 1024 * 1024,
  /** Of the ledger: many times the lines and the record of an execution whose outputs are as large as they may be. */
  answerBytes: 128 * 1024 * 1024,
  /** While lines wait for an answer, the ledger sends an empty message this often: without one, a channel is silent. */
  signOfLifeMs: 1_000,
  /** A channel that has carried nothing for this long is closed by the service. */
  idleMs: 60_000,
  /** Requests of operations that may be under way on one channel. */
  operationsUnderWay: 32,
} as const

/** A request of an operation whose row says `channel`, as a line of a message to the ledger. */
export const operationLine = z.object({
  n: z.int(),
  /** Of the operation's row. */
  path: z.string().max(64),
  request: z.unknown(),
  /** Span of the caller, in W3C Trace Context format; absent if it is not traced. */
  trace: z.string().max(128).optional(),
})
export type OperationLine = z.infer<typeof operationLine>

/** Its answer, as a line of a message from the ledger: what an HTTP request would have got. */
export interface AnswerLine {
  n: number
  status: number
  answer: object
}

/** Sent before a ledger that stops closes the channel: what is under way is answered, and no new request is sent. */
export const LEAVING = '{"leaving":true}\n'
