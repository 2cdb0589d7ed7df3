import { z } from 'zod'
import { callTiming } from '@gateway/api/chat-answer'
import { picoDigits, promptSize, usage } from '@gateway/pricing/usage'
import type { StoppedBy } from '@gateway/api/execution'
import type { GraphNode } from '@gateway/api/graph'
import type { Quarantined } from './ledger-outcomes.ts'
import type { RefusalBody } from '@gateway/api/refusal'

// A worker's items about one node of an execution, sent in the channels of items like `admit`, `settle` and `release`.
//
//   claim → (a paid node: admit under the claim's lease → call the provider) → complete
//
// A claim names a lease that the worker made, so that it may be repeated. A worker that lost the lease gets `fenced`
// and changes nothing: another attempt is under way. A completion may also name a lease for a node that may run because
// of it: the worker continues with that node, which saves the way through the queue. Its outcome has the free nodes that
// are ready because of it: if their worker gets the job of one, it needs no claim.

const id = z.string().min(1).max(64)

/** One attempt at one node, by its lease: 32 hex digits, random, minted by the worker for each delivery of a job. */
export const nodeLease = z.strictObject({
  execution: id,
  node: z.string().min(1).max(64),
  lease: z.string().regex(/^[0-9a-f]{32}$/),
})
export type NodeLease = z.infer<typeof nodeLease>

/**
 * Takes a ready node for a living instance. `attempt` is the job's: a job older than the ledger's attempt gets nothing.
 * `isFirst`: this is the first delivery of the job. A free node is then granted without a record, because running it
 * twice costs nothing: the first result is recorded. A later delivery is recorded, so that the deaths of a node that
 * kills its workers are counted.
 */
export const claimItem = z.strictObject({
  op: z.literal('claim'),
  ...nodeLease.shape,
  instance: id,
  attempt: z.int().min(1),
  isFirst: z.literal(true).exactOptional(),
})
export type ClaimItem = z.infer<typeof claimItem>

/**
 * Asks for a reservation for the paid call of a claimed node, on behalf of its execution: the execution's key by its
 * lineage, or the user who started it in the console (money §7.2). `id` is the claim's `callReservation`.
 */
export const admitNodeItem = z.strictObject({
  op: z.literal('admit-node'),
  id,
  ...nodeLease.shape,
  instance: id,
  model: z.string().min(1).max(256),
  parameters: z.array(z.string().min(1).max(64)).max(32),
  promptSize: promptSize,
})
export type AdmitNodeItem = z.infer<typeof admitNodeItem>

/**
 * Records how a claimed node ended, and in the same transaction charges or releases its reservation, decides which
 * nodes may run now, and writes the next line of progress.
 */
export const completeItem = z.strictObject({
  op: z.literal('complete'),
  ...nodeLease.shape,
  /** The claim was `isUnrecorded`: the lease is recorded with the result, for this instance. */
  instance: id.exactOptional(),
  /** The sender continues with this execution: a node that may run because of this one is theirs, as by a claim. */
  next: z.strictObject({ lease: nodeLease.shape.lease, instance: id }).exactOptional(),
  result: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('succeeded'),
      /** Compact JSON text of an object, by port; stored and shown unchanged. At most 64 KB per port. */
      output: z.string().max(4 * 1024 * 1024),
      /** The ports that have a value; a branch's other side is not included. */
      ports: z.array(z.string().max(256)).max(64),
    }),
    /** Compact JSON text of a RefusalBody. */
    z.strictObject({ kind: z.literal('failed'), error: z.string().max(64 * 1024) }),
    /** This worker couldn't run it, another may: the attempt is given back. */
    z.strictObject({ kind: z.literal('given-back') }),
  ]),
  /** Usage of the call; null if none was made or it failed: a reservation is then released. */
  usage: usage.nullable(),
  /** The claim's `callReservation`: its usage is written off under this id if another worker has the lease now. */
  reservation: id.optional(),
  /** Of the call; absent if none was made. */
  timing: callTiming.optional(),
  /** What the provider charges for the usage, exactly; absent if it is unknown. */
  costPico: picoDigits.optional(),
  /** Stored with the node unchanged: each field is a column of money.node_change. */
  measured: z.strictObject({
    /** Time since the claim. */
    durationMs: z.int().min(0).max(3_600_000),
    /** The provider's part of it; null if none was called. */
    remoteMs: z.int().min(0).max(3_600_000).nullable(),
  }),
})
export type CompleteItem = z.infer<typeof completeItem>

export interface Claimed {
  kind: 'claimed'
  project: string
  /** The node as the graph has it. */
  node: GraphNode
  /**
   * By input port of this node: where a value may come from, `[node, port]`. More than one only if a port allows it.
   */
  sources: Record<string, [node: string, port: string][]>
  /** By id of a source node that has ended with values: its output, compact JSON text. */
  outputs: Record<string, string>
  /** For an `output` node, the side of the contract that its values must fit, as compact JSON text; null for others. */
  contract: string | null
  /** Remaining time of the execution's five minutes. */
  remainingMs: number
  attempt: number
  /** A free node granted to the first delivery of its job: its lease is recorded with its result. */
  isUnrecorded?: true
  /**
   * Id by which the caller knows the paid call, the same for each attempt; and the id under which this attempt
   * reserves.
   */
  callId: string
  callReservation: string
}

export type ClaimOutcome =
  | Claimed
  /**
   * It has ended, is under way elsewhere, its execution is ending, or the ledger does not know it. `cancelled`: its
   * execution was canceled, and by whom.
   */
  | { kind: 'nothing-to-do'; cancelled?: StoppedBy }
  | { kind: 'instance-unknown' }
  /** No one gets it now; a job for it will come again. */
  | Quarantined

export type CompleteOutcome =
  /**
   * `next`: the node granted under the lease named for it, if that has not ended. Other ready nodes are enqueued.
   * `ready`: free ones of those, granted as to the first delivery of their jobs. Large ones are left out.
   */
  | { kind: 'completed'; next?: Claimed; ready?: Claimed[] }
  /** Another worker has the lease now. Nothing was recorded or charged; the usage is written off. */
  | { kind: 'fenced' }
  | Quarantined

/** Error of a node. `complete` takes its JSON text. */
export type NodeError = RefusalBody
