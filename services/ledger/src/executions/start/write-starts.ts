import type { Values } from '@gateway/contracts/execution'
import type { StartQuestion } from '@gateway/contracts/flow-reads'
import { flowLimits } from '@gateway/contracts/limits'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import { advance, type NodeState } from '@gateway/flow/advance'
import type { Plan } from '@gateway/flow/plan'
import type { NodeJob } from '@gateway/node-queue/node-job'
import { jobsOf, type EnqueuedNode } from '../store/enqueued-nodes.ts'
import type { BegunExecution } from '../store/execution-facts.ts'
import type { StartFacts } from './start-facts.ts'

/** An execution that may start. */
export interface FreshExecution {
  question: StartQuestion
  facts: StartFacts
  plan: Plan
  /** Of the input node. */
  values: Values
}

interface WriteLimits {
  nodesAtOnce: number
  /** How long an execution that is called as a chat model waits for a worker; others wait `flowLimits.firstClaimMs`. */
  chatFirstClaimMs: number
}

const NO_BYTES = Buffer.alloc(0)

/**
 * Begins executions in one round trip: their input nodes have ended, and what may run is enqueued. Answers which were begun, and what was
 * written of them; the others' idempotency key or id was taken meanwhile.
 */
export async function writeStarts(
  { sql }: Pick<Database, 'sql'>,
  executions: readonly FreshExecution[],
  { nodesAtOnce, chatFirstClaimMs }: WriteLimits,
): Promise<{ started: Map<FreshExecution, BegunExecution>; jobs: NodeJob[] }> {
  const nodesOf = executions.map(firstNodes)
  const nodes = nodesOf.flatMap((ofOne, n) => ofOne.map((node) => ({ execution: n + 1, ...node })))
  const deadlines = executions.map(({ question: { surface } }) =>
    surface === 'chat' ? chatFirstClaimMs : flowLimits.firstClaimMs,
  )
  const questions = executions.map(({ question }) => question)
  const facts = executions.map((execution) => execution.facts)
  const row = await callFunction(sql, 'money.write_starts', {
    nodes_at_once: nodesAtOnce,
    e_id: questions.map(({ id }) => id),
    e_project: facts.map(({ project }) => project),
    e_sandbox: questions.map(({ sandbox }) => sandbox),
    e_revision: facts.map(({ revision }) => revision!.number),
    e_digest: facts.map(({ revision }) => revision!.digest),
    e_key: facts.map(({ key }) => key),
    e_lineage: facts.map(({ lineage }) => lineage),
    e_person: questions.map(({ caller }) => ('keyHash' in caller ? null : caller.person)),
    e_surface: questions.map(({ surface }) => surface),
    e_traceparent: questions.map(({ trace }) => trace?.traceparent ?? null),
    e_tracestate: questions.map(({ trace }) => trace?.tracestate ?? null),
    e_idempotency_key: questions.map(({ idempotency }) => idempotency?.key ?? null),
    e_fingerprint: questions.map(({ idempotency }) => idempotency?.fingerprint ?? null),
    e_first_claim_ms: deadlines,
    e_max_micro: questions.map(({ maxMicro = null }) => (maxMicro === null ? null : BigInt(maxMicro))),
    n_execution: nodes.map(({ execution }) => execution),
    n_ordinal: nodes.map(({ ordinal }) => ordinal),
    n_node: nodes.map(({ id }) => id),
    n_kind: nodes.map(({ kind }) => kind),
    n_sources: nodes.map(({ sources }) => `{${sources.join(',')}}`),
    n_state: nodes.map(({ state }) => state),
    n_seq: nodes.map(({ seq }) => seq),
    n_ports: nodes.map(({ ports }) => (ports === null ? null : JSON.stringify(ports))),
    n_output: nodes.map(({ output }) => (output === null ? NO_BYTES : Buffer.from(output))),
  })
  return {
    started: new Map(
      row.started?.map((n) => [
        executions[n - 1]!,
        begunExecution(executions[n - 1]!, nodesOf[n - 1]!, deadlines[n - 1]!),
      ]),
    ),
    jobs: row.jobs === null ? [] : jobsOf(JSON.parse(row.jobs) as EnqueuedNode[]),
  }
}

/** What a reading would find now. */
function begunExecution(
  { question, facts }: FreshExecution,
  nodes: readonly FirstNode[],
  deadlineInMs: number,
): BegunExecution {
  const { number: revision, digest } = facts.revision!
  return {
    id: question.id,
    project: facts.project!,
    sandbox: question.sandbox,
    revision,
    digest,
    status: 'Admitted',
    seq: 1,
    version: 0,
    failing: false,
    stoppedBy: null,
    deadlineInMs,
    nodes: nodes.map(({ state, ports }) => ({
      state,
      attempt: 1,
      deaths: 0,
      lease: null,
      instance: null,
      call: null,
      reservation: null,
      ports: ports ?? [],
    })),
    outputs: new Map(nodes.flatMap(({ ordinal, output }) => (output === null ? [] : [[ordinal, output]]))),
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

/** The nodes of an execution that begins: the input node has ended with its values, and what it lets run is ready. */
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
