import type { RerunQuestion } from '@gateway/contracts/flow-reads'
import type { ExecutionStatus } from '@gateway/contracts/execution'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import type { NodeState } from '@gateway/flow/advance'
import type { PackageName } from '../../deps.ts'
import type { StartFacts } from '../start/start-facts.ts'

type Reads = Pick<Database, 'prisma' | 'sql'>

/** The execution whose results are taken over. */
export interface EarlierExecution extends PackageName {
  id: string
  status: ExecutionStatus
  nodes: EarlierNode[]
}

/** By ordinal. */
export interface EarlierNode extends NodeState {
  /** Of its line of progress; null: it has none. */
  seq: number | null
}

/** null: the project has none of this id. Of one that goes on the nodes may be of another moment than its status. */
export async function readEarlier(
  { prisma }: Pick<Reads, 'prisma'>,
  { execution: id, project }: RerunQuestion,
): Promise<EarlierExecution | null> {
  const found = await prisma.execution.findFirst({
    where: { id, project },
    select: { sandbox: true, revision: true, digest: true, status: true },
  })
  if (found === null) return null
  const nodes = await prisma.executionNode.findMany({
    where: { execution: id },
    select: { state: true, ports: true, seq: true },
    orderBy: { ordinal: 'asc' },
  })
  return {
    id,
    ...found,
    status: found.status as ExecutionStatus,
    nodes: nodes.map(({ state, ports, seq }) => ({
      state: state as NodeState['state'],
      ports: ports === null ? [] : (JSON.parse(ports) as string[]),
      seq,
    })),
  }
}

/** All else that decides, as it decides about a start by a person; of the sandbox product that the earlier execution is of. */
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

/** The first of these products that the project can't call now; null: it can call them all. */
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

/** Within what an idempotency key names one thing, beside the project: no id of a sandbox product looks like it. */
export function scopeOf({ person }: Pick<RerunQuestion, 'person'>): string {
  return `rerun ${person}`
}
