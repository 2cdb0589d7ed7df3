import type { StartedBy, ExecutionStatus } from '@gateway/api/execution'
import { callFunction } from '@gateway/database/call-function'
import type { Refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import type { Deps } from '../../deps.ts'
import { type Caller, callerQuery, type CallerRow, decideCaller } from '../../keys/read-caller.ts'
import type { NodeStateName } from '../store/read-executions.ts'

export interface ExecutionRow {
  id: string
  project: string
  sandbox: string
  revision: number
  /** Digest of the package that it runs; null: the one saved with its revision. */
  digest: string | null
  started_by: StartedBy
  /** Micro-USD; null: no ceiling. */
  max_micro: number | null
  status: ExecutionStatus
  seq: number
  output: Uint8Array | null
  error: Uint8Array | null
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
  rerunOf: string | null
}

export interface ExecutionRows {
  execution: ExecutionRow
  nodes: NodeRow[]
}

export interface NodeRow {
  node: string
  kind: string
  state: NodeStateName
  seq: number | null
  output: Uint8Array | null
  error: Uint8Array | null
  duration_ms: number | null
  remote_ms: number | null
  attempt: number
  /** When it was last claimed, and when it ended or was skipped, in Unix milliseconds. */
  claimed_ms: number | null
  ended_ms: number | null
  /** Its paid call, if one of its attempts was ever admitted; null if all were refused. */
  call: string | null
  /** Settled amount of its calls, in micro-USD. A reservation is not a charge. */
  charged: bigint
  takenOver: boolean
}

/** As written by `money.read_record`. */
type ExecutionFacts = Omit<
  ExecutionRow,
  'output' | 'error' | 'started_by' | 'max_micro' | 'created_at' | 'started_at' | 'completed_at'
> & {
  startedBy: StartedBy
  maxMicro: number | null
  createdMs: number
  startedMs: number | null
  completedMs: number | null
}
type NodeFacts = Pick<NodeRow, 'node' | 'kind' | 'state' | 'seq' | 'attempt' | 'takenOver'> & {
  claimedMs: number | null
  endedMs: number | null
  durationMs: number | null
  remoteMs: number | null
}

type RecordRow = Awaited<ReturnType<typeof callFunction<'money.read_record'>>>

const READ_AS = `
  SELECT r.*, c.*
    FROM money.read_record(wanted => $1, after => $2) r
   CROSS JOIN LATERAL (${callerQuery('$3', "r.execution::json ->> 'sandbox'")}) c`

/**
 * Reads an execution as `readRows` does, and the key that asks for it in the same snapshot: what was written after the
 * key lost access is not in it. `reader` is null if no key asks.
 */
export async function readRowsAs(
  deps: Pick<Deps, 'reads'>,
  caller: CallerQuestion | null,
  execution: string,
  after: number | 'everything',
): Promise<{ found: ExecutionRows | null; reader: Caller | Refused | null }> {
  if (caller === null) return { found: await readRows(deps, execution, after), reader: null }
  const asked = [execution, afterOrNull(after), caller.keyHash]
  const [row] = await deps.reads.sql.query<RecordRow & CallerRow>(READ_AS, asked)
  return { found: rowsOf(row!), reader: decideCaller(row!, caller) }
}

/**
 * Reads an execution and its nodes in the order of the graph. While it runs, only the nodes that have ended with a
 * result after line `after`; once it has ended, all of them, unless the caller has its last line.
 */
export async function readRows(
  { reads }: Pick<Deps, 'reads'>,
  execution: string,
  after: number | 'everything',
): Promise<ExecutionRows | null> {
  return rowsOf(await callFunction(reads.sql, 'money.read_record', { wanted: execution, after: afterOrNull(after) }))
}

const afterOrNull = (after: number | 'everything') => (after === 'everything' ? null : after)

function rowsOf(row: RecordRow): ExecutionRows | null {
  if (row.execution === null) return null
  const { startedBy, maxMicro, createdMs, startedMs, completedMs, ...facts } = JSON.parse(
    row.execution,
  ) as ExecutionFacts
  const nodes = row.nodes === null ? [] : (JSON.parse(row.nodes) as NodeFacts[])
  return {
    execution: {
      ...facts,
      started_by: startedBy,
      max_micro: maxMicro,
      output: row.output,
      error: row.error,
      created_at: new Date(createdMs),
      started_at: dateOf(startedMs),
      completed_at: dateOf(completedMs),
    },
    nodes: nodes.map(({ durationMs, remoteMs, claimedMs, endedMs, ...node }, n) => ({
      ...node,
      duration_ms: durationMs,
      remote_ms: remoteMs,
      claimed_ms: claimedMs,
      ended_ms: endedMs,
      output: row.n_output?.[n] ?? null,
      error: row.n_error?.[n] ?? null,
      call: row.n_call?.[n] ?? null,
      charged: BigInt(row.n_charged?.[n] ?? 0),
    })),
  }
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms))
