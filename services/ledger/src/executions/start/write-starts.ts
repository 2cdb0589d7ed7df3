import type { Values } from '@gateway/api/execution'
import type { StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import { flowLimits } from '@gateway/api/limits'
import type { Database } from '@gateway/database/client'
import { advance, type NodeState } from '@gateway/flow/advance'
import type { Plan } from '@gateway/flow/plan'
import type { NodeJob } from '@gateway/node-queue/node-job'
import { sourcesIn } from '../cache/load-executions.ts'
import { beginExecutions, type ExecutionStart, type NodeStart } from '../store/begin-executions.ts'
import type { BegunExecution } from '../store/execution-facts.ts'
import { scopeOf, type StartFacts } from './decide-start.ts'

/** An execution that may start. */
export interface FreshExecution {
  question: StartQuestion
  facts: StartFacts
  plan: Plan
  /** Values of the input node. */
  values: Values
}

interface WriteLimits {
  maxConcurrentNodes: number
  /** How long an execution that is called as a chat model waits for a worker; others wait `flowLimits.firstClaimMs`. */
  chatFirstClaimMs: number
}

/**
 * Starts executions in one round trip: their input nodes have ended, and the nodes that may run are enqueued. Returns
 * the started ones with what was written of them; the idempotency key or id of the others was taken meanwhile.
 */
export async function writeStarts(
  database: Pick<Database, 'sql'>,
  executions: readonly FreshExecution[],
  { maxConcurrentNodes, chatFirstClaimMs }: WriteLimits,
): Promise<{ started: Map<FreshExecution, BegunExecution>; jobs: NodeJob[] }> {
  const starts = executions.map((execution) => startOf(execution, chatFirstClaimMs))
  const { started, jobs } = await beginExecutions(database, starts, { maxConcurrentNodes })
  const begun = executions.flatMap((execution, n) =>
    started.has(execution.question.id) ? [[execution, begunExecution(execution, starts[n]!)] as const] : [],
  )
  return { started: new Map(begun), jobs }
}

function startOf({ question, facts, plan, values }: FreshExecution, chatFirstClaimMs: number): ExecutionStart {
  const { id, sandbox, surface, trace, caller, idempotency, maxMicro, tag } = question
  return {
    id,
    sandbox,
    surface,
    trace,
    maxMicro,
    project: facts.project!,
    revision: facts.revision!.number,
    digest: facts.revision!.digest,
    key: facts.key,
    lineage: facts.lineage,
    userId: 'keyHash' in caller ? null : caller.user,
    tag: facts.tag ?? tag ?? null,
    scope: scopeOf(question),
    idempotencyKey: idempotency?.key ?? null,
    fingerprint: idempotency?.fingerprint ?? null,
    firstClaimMs: surface === 'chat' ? chatFirstClaimMs : flowLimits.firstClaimMs,
    status: 'Admitted',
    seq: 1,
    nodes: firstNodes(plan, values),
  }
}

/** Returns the execution as a read would find it now. */
function begunExecution({ facts }: FreshExecution, { firstClaimMs, nodes, ...start }: ExecutionStart): BegunExecution {
  const { id, project, sandbox, revision, status, seq } = start
  return {
    id,
    project,
    sandbox,
    revision,
    digest: facts.revision!.digest,
    status,
    seq,
    version: 0,
    failing: false,
    stoppedBy: null,
    deadlineInMs: firstClaimMs,
    nodes: nodes.map(({ state, ports }) => ({
      state,
      attempt: 1,
      deaths: 0,
      lease: null,
      instance: null,
      call: null,
      reservation: null,
      ports: ports ? (JSON.parse(ports) as string[]) : [],
    })),
    outputs: new Map(nodes.flatMap(({ ordinal, output }) => (output ? [[ordinal, output]] : []))),
  }
}

/**
 * Returns the initial nodes of an execution: the input node has ended with its values, and those it frees are ready.
 */
function firstNodes(plan: Plan, values: Values): NodeStart[] {
  const ports = Object.keys(values)
  const states: NodeState[] = plan.nodes.map(({ ordinal }) =>
    ordinal === plan.input ? { state: 'Succeeded', ports } : { state: 'Pending', ports: [] },
  )
  const { ready, skipped } = advance(plan, states)
  return plan.nodes.map((node) => {
    const { ordinal, id, kind } = node
    const first = { ordinal, node: id, kind, sources: sourcesIn(node) }
    if (ordinal === plan.input)
      return { ...first, state: 'Succeeded', seq: 1, ports: JSON.stringify(ports), output: JSON.stringify(values) }
    return {
      ...first,
      state: ready.includes(ordinal) ? 'Ready' : skipped.includes(ordinal) ? 'Skipped' : 'Pending',
      seq: null,
    }
  })
}
