import { callFunction } from '@gateway/database/call-function'
import type { Sql } from '@gateway/database/client'
import { takerOf, type NodeItem } from '../nodes/node-item.ts'
import type { NodeFacts, NodeStateName, ExecutionFacts } from './execution-facts.ts'

export interface ExecutionsReading {
  /** By id. An execution that does not exist is missing. */
  executions: Map<string, ExecutionFacts>
  alive: Set<string>
  /** Outputs of the sources of each claim, as JSON text by ordinal. */
  sourcesOf: Map<NodeItem, Map<number, string>>
  /** Unix milliseconds, by the database's clock. */
  nowMs: number
}

type ExecutionColumns = [
  id: string,
  project: string,
  sandbox: string,
  revision: number,
  status: ExecutionFacts['status'],
  seq: number,
  version: number,
  failing: boolean,
  deadlineMs: number,
  nodes: NodeColumns[],
  digest: string | null,
  stoppedBy: ExecutionFacts['stoppedBy'],
]
type NodeColumns = [
  state: NodeStateName,
  attempt: number,
  deaths: number,
  lease: string | null,
  instance: string | null,
  call: string | null,
  reservation: string | null,
  ports: string | null,
]

/**
 * Reads the current executions of these items, and what the claims among them need to run (F1 of write_executions).
 * @param others instances in addition to theirs
 */
export async function readExecutions(
  sql: Sql,
  items: readonly NodeItem[],
  others: readonly string[] = [],
): Promise<ExecutionsReading> {
  const claims = items.filter((item) => item.op === 'claim')
  const instances = items.flatMap((item) => (item.op === 'reclaim' ? item.instance : (takerOf(item) ?? [])))
  const row = await callFunction(sql, 'money.read_executions', {
    ids: [...new Set(items.map(({ execution }) => execution))],
    instances: [...new Set([...instances, ...others])],
    c_execution: claims.map(({ execution }) => execution),
    c_node: claims.map(({ node }) => node),
  })
  const sourcesOf = new Map<NodeItem, Map<number, string>>(claims.map((claim) => [claim, new Map()]))
  row.s_claim?.forEach((claim, n) => {
    sourcesOf.get(claims[claim - 1]!)!.set(row.s_ordinal![n]!, Buffer.from(row.s_output![n]!).toString())
  })
  const executions = row.executions === null ? [] : (JSON.parse(row.executions) as ExecutionColumns[]).map(executionOf)
  return {
    executions: new Map(executions.map((execution) => [execution.id, execution])),
    alive: new Set(row.live_instances),
    sourcesOf,
    nowMs: Number(row.at_ms),
  }
}

function executionOf(columns: ExecutionColumns): ExecutionFacts {
  const [id, project, sandbox, revision, status, seq, version, failing, deadlineMs, nodes, digest, stoppedBy] = columns
  const facts = { id, project, sandbox, revision, digest, status, seq, version, failing, deadlineMs, stoppedBy }
  return { ...facts, nodes: nodes.map(nodeOf) }
}

function nodeOf([state, attempt, deaths, lease, instance, call, reservation, ports]: NodeColumns): NodeFacts {
  const withValue = ports === null ? [] : (JSON.parse(ports) as string[])
  return { state, attempt, deaths, lease, instance, call, reservation, ports: withValue }
}
