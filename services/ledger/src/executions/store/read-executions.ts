import type { Database } from '@gateway/database/client'
import type { NodeItem } from '../nodes/node-item.ts'
import type { NodeFacts, NodeStateName, ExecutionFacts } from './execution-facts.ts'

type Prisma = Pick<Database['prisma'], '$queryRawUnsafe'>

export interface ExecutionsReading {
  /** By id; a run that is not there is unknown. */
  executions: Map<string, ExecutionFacts>
  living: Set<string>
  /** By claim: what its sources answered, JSON text by ordinal. */
  sourcesOf: Map<NodeItem, Map<number, string>>
  /** Unix milliseconds, by the database's clock. */
  nowMs: number
}

interface Row {
  at_ms: bigint
  executions: string | null
  living: string[] | null
  s_claim: number[] | null
  s_ordinal: number[] | null
  s_output: Uint8Array[] | null
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

const SQL = `SELECT at_ms, runs AS executions, living, s_claim, s_ordinal, s_output FROM money.read_executions_v1($1, $2, $3, $4)`

/**
 * Reads the runs of these items as they are now, and what the claims among them need to run (F1 of the flows migration).
 * @param others instances besides theirs
 */
export async function readExecutions(
  prisma: Prisma,
  items: readonly NodeItem[],
  others: readonly string[] = [],
): Promise<ExecutionsReading> {
  const claims = items.filter((item) => item.op === 'claim')
  const instances = items.flatMap((item) => (item.op === 'claim' || item.op === 'reclaim' ? [item.instance] : []))
  const [row] = await prisma.$queryRawUnsafe<[Row]>(
    SQL,
    [...new Set(items.map(({ execution }) => execution))],
    [...new Set([...instances, ...others])],
    claims.map(({ execution }) => execution),
    claims.map(({ node }) => node),
  )
  const sourcesOf = new Map<NodeItem, Map<number, string>>(claims.map((claim) => [claim, new Map()]))
  row.s_claim?.forEach((claim, n) => {
    sourcesOf.get(claims[claim - 1]!)!.set(row.s_ordinal![n]!, Buffer.from(row.s_output![n]!).toString())
  })
  const executions = row.executions === null ? [] : (JSON.parse(row.executions) as ExecutionColumns[]).map(executionOf)
  return {
    executions: new Map(executions.map((execution) => [execution.id, execution])),
    living: new Set(row.living),
    sourcesOf,
    nowMs: Number(row.at_ms),
  }
}

function executionOf(columns: ExecutionColumns): ExecutionFacts {
  const [id, project, sandbox, revision, status, seq, version, failing, deadlineMs, nodes] = columns
  return { id, project, sandbox, revision, status, seq, version, failing, deadlineMs, nodes: nodes.map(nodeOf) }
}

function nodeOf([state, attempt, deaths, lease, instance, call, reservation, ports]: NodeColumns): NodeFacts {
  const withValue = ports === null ? [] : (JSON.parse(ports) as string[])
  return { state, attempt, deaths, lease, instance, call, reservation, ports: withValue }
}
