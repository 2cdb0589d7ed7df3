import type { RerunQuestion } from '@gateway/contracts/flow-reads'
import { flowLimits } from '@gateway/contracts/limits'
import type { Database } from '@gateway/database/client'
import type { Plan } from '@gateway/flow/plan'
import type { Rerun } from '@gateway/flow/rerun'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { PackageName } from '../../deps.ts'
import { sourcesIn } from '../cache/load-executions.ts'
import { beginExecutions, type ExecutionStart, type NodeStart } from '../store/begin-executions.ts'
import { scopeOf, type EarlierExecution } from './rerun-facts.ts'

/** An execution that may begin. */
export interface FreshRerun {
  question: RerunQuestion
  earlier: EarlierExecution
  /** What it runs. */
  name: PackageName
  plan: Plan
  rerun: Extract<Rerun, { kind: 'rerun' }>
}

/**
 * Begins an execution in one round trip: results that it takes over are copied by the database, and what may run is enqueued.
 * `started` false: its idempotency key or its id was taken meanwhile.
 */
export async function writeRerun(
  database: Pick<Database, 'sql'>,
  fresh: FreshRerun,
  limits: { nodesAtOnce: number },
): Promise<{ started: boolean; jobs: NodeJob[] }> {
  const { question, earlier, name, plan, rerun } = fresh
  const { id, project, person, maxMicro, trace, idempotency } = question
  const nodes = firstNodes(fresh)
  const lines = nodes.filter(({ seq }) => seq !== null).length
  const isOver = rerun.states.every(({ state }) => state === 'Succeeded' || state === 'Skipped')
  const start: ExecutionStart = {
    id,
    project,
    ...name,
    key: null,
    lineage: null,
    person,
    surface: 'invoke',
    maxMicro,
    trace,
    scope: scopeOf(question),
    idempotencyKey: idempotency?.key ?? null,
    fingerprint: idempotency?.fingerprint ?? null,
    firstClaimMs: flowLimits.firstClaimMs,
    rerunOf: earlier.id,
    status: isOver ? 'Succeeded' : 'Admitted',
    seq: isOver ? lines + 1 : lines,
    output: rerun.takenOver.get(plan.output) ?? null,
    nodes,
  }
  const { started, jobs } = await beginExecutions(database, [start], limits)
  return { started: started.has(id), jobs }
}

/** The nodes as it begins. What is there already has its lines of progress in the order in which it ended before. */
function firstNodes({ earlier, plan, rerun: { takenOver, input, states } }: FreshRerun): NodeStart[] {
  const beforeOf = (ordinal: number) => (ordinal === plan.input ? input : (takenOver.get(ordinal) ?? null))
  const seqBefore = (ordinal: number) => earlier.nodes[beforeOf(ordinal) ?? -1]?.seq ?? 0
  const told = plan.nodes
    .map(({ ordinal }) => ordinal)
    .filter((ordinal) => states[ordinal]!.state === 'Succeeded')
    .toSorted((a, b) => seqBefore(a) - seqBefore(b))
  return plan.nodes.map((node) => {
    const { ordinal, id, kind } = node
    const at = told.indexOf(ordinal)
    return {
      ordinal,
      node: id,
      kind,
      sources: sourcesIn(node),
      state: states[ordinal]!.state,
      seq: at < 0 ? null : at + 1,
      earlier: beforeOf(ordinal),
      takenOver: takenOver.has(ordinal),
    }
  })
}
