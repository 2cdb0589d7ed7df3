import type { RefusalBody } from './refusal.ts'

// The record of one sandbox run as its caller sees it (spec 2.4, decisions.md 6). Names are the wire's.

export type ExecutionStatus = 'Admitted' | 'Running' | 'Succeeded' | 'Failed'
export type NodeStatus = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Skipped'

/** Values by port or by field of the contract. */
export type Values = Record<string, unknown>

export interface NodeRecord {
  id: string
  kind: string
  status: NodeStatus
  output: Values | null
  error: RefusalBody | null
  /** From its claim to its record; null before that. */
  durationMs: number | null
  /** What the provider took; null where none was called. */
  remoteMs: number | null
  /** The invocation of its paid call. */
  callId: string | null
  chargedMicro: number
}

export interface ExecutionRecord {
  id: string
  object: 'sandbox.execution'
  sandbox: string
  revision: number
  project: string
  status: ExecutionStatus
  output: Values | null
  error: RefusalBody | null
  /** In the order of the graph. */
  nodes: NodeRecord[]
  childCalls: string[]
  /** The sum of the children's charges, never stored apart. */
  chargedMicro: number
  createdAt: string
  startedAt: string | null
  completedAt: string | null
}

/** A line of NDJSON progress (spec 6). `seq` has no gaps: 0 is `admitted`, the last is `complete`. */
export type ProgressLine =
  | { kind: 'admitted'; seq: 0; executionId: string; revision: number; at: string }
  | { kind: 'node'; seq: number; node: NodeRecord }
  | { kind: 'complete'; seq: number; execution: ExecutionRecord }

/** A stored image or sound as a value of a port (decisions.md, 6). */
export interface AssetValue {
  asset: string
  mimeType: string
  bytes: number
}
