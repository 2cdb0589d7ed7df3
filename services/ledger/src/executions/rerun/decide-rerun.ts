import type { RerunQuestion } from '@gateway/ledger-protocol/flow-reads'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { Plan } from '@gateway/flow/plan'
import type { Rerun } from '@gateway/flow/rerun'
import type { StartFacts } from '../start/decide-start.ts'
import { hasEnded } from '../store/read-executions.ts'
import type { ExecutionStatus } from '@gateway/api/execution'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import type { NodeState } from '@gateway/flow/advance'
import type { PackageName } from '../../deps.ts'

// Decides whether an execution may reuse results of an earlier one, in the order of rules §2.3. A repeat passes the
// first step only, because the earlier execution may be deleted by then.

/** Returns the execution that this question, or another one under its idempotency key, started. null: continue. */
export function decideRepeat(
  { idempotency }: RerunQuestion,
  { asked, earlier: known }: Pick<StartFacts, 'asked' | 'earlier'>,
): { execution: string; replayed: boolean } | Refused | null {
  if (asked !== null) return { execution: asked.execution, replayed: false }
  if (known === null || idempotency === null) return null
  if (known.fingerprint !== idempotency.fingerprint) return refused('idempotency_mismatch', {})
  return { execution: known.execution, replayed: true }
}

/** Checks the earlier execution and the revision to run. null: continue. */
export function decideEarlier(
  { execution, revision: named }: RerunQuestion,
  earlier: EarlierExecution | null,
  { revision, sandbox }: Pick<StartFacts, 'revision' | 'sandbox'>,
): Refused | null {
  if (earlier === null) return refused('execution_not_found', { execution })
  if (!hasEnded(earlier)) return refused('execution_not_ended', { execution })
  if (revision !== null) return null
  return refused('revision_not_active', {
    revision: named,
    activeRevision: sandbox?.active ?? null,
    suspended: false,
  })
}

/** Checks the node and compares the packages. */
export function decideNodes(
  { execution, from }: RerunQuestion,
  revision: number,
  rerun: Rerun,
): Extract<Rerun, { kind: 'rerun' }> | Refused {
  if (rerun.kind === 'unknown-node') return refused('node_unknown', { from })
  if (rerun.kind === 'differs') return refused('rerun_differs', { execution, revision, nodes: rerun.nodes })
  return rerun
}

/** Returns the products that the rerun may call. */
export function productsToRun({ nodes }: Plan, { states }: Extract<Rerun, { kind: 'rerun' }>): string[] {
  const called = nodes.flatMap(({ ordinal, product }) => {
    const { state } = states[ordinal]!
    return product !== null && (state === 'Ready' || state === 'Pending') ? [product] : []
  })
  return [...new Set(called)]
}

type Reads = Pick<Database, 'prisma' | 'sql'>

/** The execution whose results are reused. */
export interface EarlierExecution extends PackageName {
  id: string
  status: ExecutionStatus
  nodes: EarlierNode[]
}

/** By ordinal. */
export interface EarlierNode extends NodeState {
  /** The number of its progress line; null: it has none. */
  seq: number | null
  /** Of its output. */
  bytes: number
}

/** null: the project has no such execution. While one is running, its nodes may be newer than its status. */
export async function readEarlier(
  { prisma }: Pick<Reads, 'prisma'>,
  { execution: id, project }: RerunQuestion,
): Promise<EarlierExecution | null> {
  const found = await prisma.execution.findFirst({
    where: { id, project },
    select: { sandbox: true, revision: true, digest: true, status: true },
  })
  if (found === null) return null
  const nodes = await prisma.$queryRaw<(Pick<EarlierNode, 'state' | 'seq' | 'bytes'> & { ports: string | null })[]>`
    SELECT state, ports, seq, coalesce(octet_length(output), 0) AS bytes
      FROM money.execution_nodes WHERE execution = ${id} ORDER BY ordinal`
  return {
    id,
    ...found,
    status: found.status as ExecutionStatus,
    nodes: nodes.map(({ ports, ...node }) => ({
      ...node,
      ports: ports === null ? [] : (JSON.parse(ports) as string[]),
    })),
  }
}

/** Reads the other facts, as for a start by a user, for the sandbox product of the earlier execution. */
export async function readMeans(
  { sql }: Pick<Reads, 'sql'>,
  question: RerunQuestion,
  earlier: EarlierExecution | null,
  openExecutions: number,
): Promise<StartFacts> {
  const row = await callFunction(sql, 'money.read_starts', {
    questions: [
      {
        id: question.id,
        project: question.project,
        sandbox: earlier?.sandbox ?? '',
        revision: question.revision ?? earlier?.revision,
        scope: scopeOf(question),
        idempotencyKey: question.idempotency?.key,
      },
    ],
    max_open: openExecutions,
  })
  const [facts] = JSON.parse(row.facts) as [StartFacts]
  return facts
}

/** Returns the first of these products that the project can't call now; null: it can call them all. */
export async function readUnassigned(
  { prisma }: Pick<Reads, 'prisma'>,
  project: string,
  products: string[],
): Promise<string | null> {
  if (products.length === 0) return null
  const [row] = await prisma.$queryRaw<[{ product: string | null }]>`
    SELECT money.unassigned_product(${project}, ${products}::text[]) AS product`
  return row.product
}

/** Returns the scope of an idempotency key within the project. No sandbox product's id has this form. */
export function scopeOf({ user }: Pick<RerunQuestion, 'user'>): string {
  return `rerun ${user}`
}
