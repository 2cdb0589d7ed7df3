import type { RerunQuestion } from '@gateway/contracts/flow-reads'
import { flowLimits } from '@gateway/contracts/limits'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import type { Plan } from '@gateway/flow/plan'
import type { Rerun } from '@gateway/flow/rerun'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { PackageName } from '../../deps.ts'
import { sourcesIn } from '../cache/load-executions.ts'
import { jobsOf, type EnqueuedNode } from '../store/enqueued-nodes.ts'
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
  { sql }: Pick<Database, 'sql'>,
  fresh: FreshRerun,
  { nodesAtOnce }: { nodesAtOnce: number },
): Promise<{ started: boolean; jobs: NodeJob[] }> {
  const { question, earlier, name, plan, rerun } = fresh
  const nodes = firstNodes(fresh)
  const lines = nodes.filter(({ seq }) => seq !== null).length
  const isOver = rerun.states.every(({ state }) => state === 'Succeeded' || state === 'Skipped')
  const row = await callFunction(sql, 'money.write_rerun', {
    nodes_at_once: nodesAtOnce,
    e_id: question.id,
    e_earlier: earlier.id,
    e_project: question.project,
    e_sandbox: name.sandbox,
    e_revision: name.revision,
    e_digest: name.digest,
    e_person: question.person,
    e_max_micro: question.maxMicro === null ? null : BigInt(question.maxMicro),
    e_status: isOver ? 'Succeeded' : 'Admitted',
    e_seq: isOver ? lines + 1 : lines,
    e_output: rerun.takenOver.get(plan.output) ?? null,
    e_traceparent: question.trace?.traceparent ?? null,
    e_tracestate: question.trace?.tracestate ?? null,
    e_scope: scopeOf(question),
    e_idempotency_key: question.idempotency?.key ?? null,
    e_fingerprint: question.idempotency?.fingerprint ?? null,
    e_first_claim_ms: flowLimits.firstClaimMs,
    n_ordinal: nodes.map(({ ordinal }) => ordinal),
    n_node: nodes.map(({ id }) => id),
    n_earlier: nodes.map(({ before }) => before),
    n_taken_over: nodes.map(({ takenOver }) => takenOver),
    n_kind: nodes.map(({ kind }) => kind),
    n_sources: nodes.map(({ sources }) => `{${sources.join(',')}}`),
    n_state: nodes.map(({ state }) => state),
    n_seq: nodes.map(({ seq }) => seq),
  })
  return { started: row.started, jobs: row.jobs === null ? [] : jobsOf(JSON.parse(row.jobs) as EnqueuedNode[]) }
}

/** The nodes as it begins. What is there already has its lines of progress in the order in which it ended before. */
function firstNodes({ earlier, plan, rerun: { takenOver, input, states } }: FreshRerun) {
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
      id,
      kind,
      sources: sourcesIn(node),
      state: states[ordinal]!.state,
      seq: at < 0 ? null : at + 1,
      before: beforeOf(ordinal),
      takenOver: takenOver.has(ordinal),
    }
  })
}
