import type { Values } from '@gateway/contracts/execution'
import type { StartQuestion } from '@gateway/contracts/flow-reads'
import { flowLimits } from '@gateway/contracts/limits'
import type { Database } from '@gateway/database/client'
import { advance, type NodeState } from '@gateway/flow/advance'
import type { Plan } from '@gateway/flow/plan'
import type { NodeJob } from '@gateway/node-queue/node-job'
import { jobsOf, type EnqueuedNode } from '../store/enqueued-nodes.ts'
import type { StartFacts } from './start-facts.ts'

/** A run that may start. */
export interface FreshExecution {
  question: StartQuestion
  facts: StartFacts
  plan: Plan
  /** Of the input node. */
  values: Values
}

interface Row {
  started: number[] | null
  rung: string | null
}

const SQL = `SELECT started, rung FROM money.write_starts_v1(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`

const NO_BYTES = Buffer.alloc(0)

/**
 * Begins runs in one round trip: their input nodes have ended, and what may run is enqueued. Answers which were begun; the others'
 * idempotency key or id was taken meanwhile.
 */
export async function writeStarts(
  { prisma }: Pick<Database, 'prisma'>,
  executions: readonly FreshExecution[],
  nodesAtOnce: number,
): Promise<{ started: Set<FreshExecution>; jobs: NodeJob[] }> {
  const nodes = executions.flatMap((execution, n) =>
    firstNodes(execution).map((node) => ({ execution: n + 1, ...node })),
  )
  const questions = executions.map(({ question }) => question)
  const facts = executions.map((execution) => execution.facts)
  const [row] = await prisma.$queryRawUnsafe<[Row]>(
    SQL,
    nodesAtOnce,
    flowLimits.firstClaimMs,
    questions.map(({ id }) => id),
    facts.map(({ project }) => project),
    questions.map(({ sandbox }) => sandbox),
    facts.map(({ revision }) => revision!.number),
    facts.map(({ key }) => key),
    facts.map(({ lineage }) => lineage),
    questions.map(({ caller }) => ('keyHash' in caller ? null : caller.person)),
    questions.map(({ surface }) => surface),
    questions.map(({ trace }) => trace?.traceparent ?? null),
    questions.map(({ trace }) => trace?.tracestate ?? null),
    questions.map(({ idempotency }) => idempotency?.key ?? null),
    questions.map(({ idempotency }) => idempotency?.fingerprint ?? null),
    nodes.map(({ execution }) => execution),
    nodes.map(({ ordinal }) => ordinal),
    nodes.map(({ id }) => id),
    nodes.map(({ kind }) => kind),
    nodes.map(({ sources }) => `{${sources.join(',')}}`),
    nodes.map(({ state }) => state),
    nodes.map(({ seq }) => seq),
    nodes.map(({ ports }) => (ports === null ? null : JSON.stringify(ports))),
    nodes.map(({ output }) => (output === null ? NO_BYTES : Buffer.from(output))),
  )
  return {
    started: new Set(row.started?.map((n) => executions[n - 1]!)),
    jobs: row.rung === null ? [] : jobsOf(JSON.parse(row.rung) as EnqueuedNode[]),
  }
}

interface FirstNode {
  ordinal: number
  id: string
  kind: string
  sources: number[]
  state: NodeState['state']
  seq: number | null
  ports: string[] | null
  output: string | null
}

/** The nodes of a run that begins: the input node has ended with its values, and what it lets run is ready. */
function firstNodes({ plan, values }: FreshExecution): FirstNode[] {
  const ports = Object.keys(values)
  const states: NodeState[] = plan.nodes.map(({ ordinal }) =>
    ordinal === plan.input ? { state: 'Succeeded', ports } : { state: 'Pending', ports: [] },
  )
  const { ready, skipped } = advance(plan, states)
  return plan.nodes.map(({ ordinal, id, kind, inputs }) => ({
    ordinal,
    id,
    kind,
    sources: [...new Set(inputs.flatMap(({ sources }) => sources.map((source) => source.ordinal)))],
    ...(ordinal === plan.input
      ? { state: 'Succeeded', seq: 1, ports, output: JSON.stringify(values) }
      : {
          state: ready.includes(ordinal) ? 'Ready' : skipped.includes(ordinal) ? 'Skipped' : 'Pending',
          seq: null,
          ports: null,
          output: null,
        }),
  }))
}
