import type { ExecutionStatus } from '@gateway/contracts/execution'
import type { BegunBy } from '@gateway/contracts/execution-error'
import type { Deps } from '../../deps.ts'
import type { NodeStateName } from '../store/execution-facts.ts'

export interface ExecutionRow {
  id: string
  project: string
  sandbox: string
  revision: number
  /** Of the package that it runs; null: the one saved with its revision. */
  digest: string | null
  begun_by: BegunBy
  status: ExecutionStatus
  seq: number
  output: Uint8Array | null
  error: Uint8Array | null
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
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
  /** Of its paid call, if one of its attempts was ever admitted: a call that was refused never was. */
  call: string | null
  /** Micro-USD: what of its calls was settled. What is only reserved is no charge. */
  charged: bigint
}

/**
 * An execution and its nodes in the order of the graph. While it goes on, only those nodes that have ended with a result after line
 * `after`; once it has ended all of them, unless the caller has its last line.
 */
export async function readRows(
  { reads }: Pick<Deps, 'reads'>,
  execution: string,
  after: number | 'everything',
): Promise<{ execution: ExecutionRow; nodes: NodeRow[] } | null> {
  // One statement, so that execution and nodes are of one moment.
  const rows = await reads.sql.query<ExecutionRow & { nodes: NodeRow | null } & Record<string, unknown>>(
    `SELECT e.id, e.project, e.sandbox, e.revision, e.digest, CASE WHEN e.person IS NULL THEN e.surface ELSE 'person' END AS begun_by,
            e.status, e.seq, e.output, e.error, e.created_at, e.started_at, e.completed_at,
            n.node AS n_node, n.kind AS n_kind, n.state AS n_state, n.seq AS n_seq, n.output AS n_output, n.error AS n_error,
            n.duration_ms AS n_duration_ms, n.remote_ms AS n_remote_ms, n.admitted_call AS n_call, n.charged AS n_charged
       FROM money.executions e
       LEFT JOIN LATERAL (
         SELECT n.*, coalesce(v.charged_micro, 0) AS charged,
                CASE WHEN n.charge IS NOT NULL OR a.admitted THEN n.call END AS admitted_call
           FROM money.execution_nodes n
           LEFT JOIN LATERAL (
             -- Its attempts reserved under these ids (execution-draft.ts).
             SELECT true AS admitted
               FROM generate_series(1, n.attempt) t
               JOIN LATERAL (
                 SELECT r.id FROM money.reservations r WHERE r.id = n.call || CASE t WHEN 1 THEN '' ELSE '-' || t END
                 UNION ALL
                 SELECT c.id FROM money.attempts c WHERE c.id = n.call || CASE t WHEN 1 THEN '' ELSE '-' || t END
                 LIMIT 1) i ON true
              WHERE n.call IS NOT NULL AND n.charge IS NULL
              LIMIT 1) a ON true
           LEFT JOIN LATERAL (SELECT c.charged_micro FROM money.attempts c WHERE c.id = n.charge LIMIT 1) v ON true
          WHERE n.execution = $1 AND n.execution = e.id
            AND ($2::int IS NULL OR n.seq > $2::int OR (e.completed_at IS NOT NULL AND e.seq > $2::int))
         ) n ON true
      WHERE e.id = $1
      ORDER BY n.ordinal`,
    [execution, after === 'everything' ? null : after],
  )
  const [first] = rows
  if (!first) return null
  return { execution: first, nodes: rows.filter((row) => row['n_node'] !== null).map(nodeRowOf) }
}

function nodeRowOf(row: Record<string, unknown>): NodeRow {
  return {
    node: row['n_node'] as string,
    kind: row['n_kind'] as string,
    state: row['n_state'] as NodeStateName,
    seq: row['n_seq'] as number | null,
    output: row['n_output'] as Uint8Array | null,
    error: row['n_error'] as Uint8Array | null,
    duration_ms: row['n_duration_ms'] as number | null,
    remote_ms: row['n_remote_ms'] as number | null,
    call: row['n_call'] as string | null,
    charged: row['n_charged'] as bigint,
  }
}
