import { openItemBatcher } from '@gateway/service-kit/async/batcher'
import type { Database } from '@gateway/database/client'
import type { StartAnswer, StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import { refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { Deps, NodeBatcher, StartBatcher } from '../../deps.ts'
import { openResilientBatches, type BatchEntry, type BatchMode } from '../../quarantine/resilient-batches.ts'
import { enqueueJobs } from '../announce.ts'
import {
  decideCaller,
  decideMeans,
  decideRevision,
  readStarts,
  scopeOf,
  type StartFacts,
  readInput,
  refuseGraph,
} from './decide-start.ts'
import { trace } from '@opentelemetry/api'
import { attributesOf } from '@gateway/ledger-client/span-attributes'
import { activeCarrier } from '@gateway/service-kit/process/spans'
import type { Values } from '@gateway/api/execution'
import { flowLimits } from '@gateway/api/limits'
import { advance, type NodeState } from '@gateway/flow/advance'
import type { Plan } from '@gateway/flow/plan'
import type { NodeJob } from '@gateway/node-queue/node-job'
import { sourcesIn } from '../cache/load-executions.ts'
import { beginExecutions, type ExecutionStart, type NodeStart } from '../store/write-executions.ts'
import type { BegunExecution } from '../store/read-executions.ts'

// Starts many executions at a time, with one batch in flight. Errors are handled in resilient-batches.ts.
//   S1  Facts are read at one moment after the request arrived. Nothing is reserved, so no wallet is locked. A key or a
//       sandbox product that lost its permission since is found when the start is written: it is decided again.
//   S2  The idempotency key is taken by its primary key. A copy that comes second, in this batch or on another replica,
//       is re-read with the next batch, and finds the first.
//   S3  A request may be repeated under its id and gets the same execution. While it waits, a repeat waits with it.
//   S4  A request waits at most WAIT_MS, even while a batch does not return. Its caller retries.

export interface StartLimits {
  /** Nodes of one project that may be in the queue or running. */
  maxConcurrentNodes: number
  /** Open executions of one project; one more is refused as overloaded. */
  openExecutions: number
  /** Requests that may wait here; one more is refused as overloaded. */
  waitingStarts: number
  /** How long an execution that is called as a chat model waits for a worker. */
  chatFirstClaimMs: number
}

type StartDeps = Pick<
  Deps,
  | 'executions'
  | 'reads'
  | 'packageCache'
  | 'quarantine'
  | 'nodeQueue'
  | 'metrics'
  | 'keyUses'
  | 'keptBytes'
  | 'quotas'
  | 'now'
> & {
  nodeBatcher: Pick<NodeBatcher, 'introduce'>
}

interface Waiting extends BatchEntry {
  question: StartQuestion
  resolve: (answer: StartAnswer) => void
  reject: (error: unknown) => void
  dropAtMs: number
}

const BATCH_ITEMS = 64
/** As long as callers wait. */
const WAIT_MS = 5_000

export function openStartBatcher(deps: StartDeps, limits: StartLimits): StartBatcher {
  const { now } = deps
  const batches = openResilientBatches<Waiting>(deps, {
    waitForLocksAfter: Infinity, // starts wait for no lock
    idOf: ({ question }) => `start ${question.id}`,
    groupsOf: () => [],
    partOf: ({ question }) => question.id,
    identify: async () => {},
    run: decideAll,
    putBack: (waiting) => batcher.add(waiting),
    drop,
    answerFromMemory: async ({ reject }, { error }) => reject(new Error(error)),
    report: ({ question }, error) => deps.metrics.quarantined(question, error),
  })
  const batcher = openItemBatcher<Waiting>({
    maxItems: BATCH_ITEMS,
    run: batches.run,
    now,
    line: {
      nameOf: ({ question }) => question.id, // S3
      dropAtMs: ({ dropAtMs }) => dropAtMs,
      join: joinCopy, // S3
      drop, // S4
    },
  })

  function drop({ reject }: Waiting): void {
    reject(new Error('the question waited too long'))
  }

  async function decideAll(batch: Waiting[], { outside, passOver, onWritten }: BatchMode<Waiting>): Promise<void> {
    const database = outside ? deps.reads : deps.executions
    const questions = batch.map(({ question }) => question)
    const facts = await readStarts(database, questions, limits.openExecutions)
    const decided = await Promise.all(
      questions.map((question, n) => decideStart(deps, database, question, facts[n]!, limits)),
    )
    const answers: [Waiting, StartAnswer][] = []
    const later: Waiting[] = []
    const fresh = new Map<FreshExecution, Waiting>()
    const admit = openBatchAdmission(limits)
    for (const [n, waiting] of batch.entries()) {
      const start = decided[n]!
      if (!isFresh(start)) answers.push([waiting, start])
      else {
        const verdict = admit(start)
        if (verdict === 'go') fresh.set(start, waiting)
        else if (verdict === 'later') later.push(waiting) // S2
        else answers.push([waiting, refused('overloaded', {})])
      }
    }
    if (fresh.size > 0) {
      const { started, jobs } = await writeStarts(database, [...fresh.keys()], limits)
      for (const begun of started.values()) {
        deps.nodeBatcher.introduce(begun) // before a worker hears of it
        for (const value of begun.outputs.values()) deps.keptBytes.note(begun.project, value.length)
      }
      enqueueJobs(deps, jobs)
      for (const [execution, waiting] of fresh) {
        if (!started.has(execution)) later.push(waiting) // S2
        else {
          if (execution.facts.key !== null) deps.keyUses.note(execution.facts.key)
          answers.push([waiting, startedAnswer(execution)])
        }
      }
    }
    onWritten(true)
    for (const [{ resolve }, answer] of answers) resolve(answer)
    for (const waiting of later) passOver(waiting)
  }

  return {
    submit(question) {
      if (batcher.waiting().all >= limits.waitingStarts) return Promise.resolve(refused('overloaded', {}))
      return new Promise((resolve, reject) => {
        const dropAtMs = now() + WAIT_MS
        const waiting = { question, resolve, reject, dropAtMs, deferrals: 0, outcomeUnknown: false }
        if (!batches.take(waiting)) batcher.add(waiting)
      })
    },
    waiting: batcher.waiting,
    async drain() {
      await batcher.idle()
      await batches.idle()
    },
  }
}

function joinCopy(first: Waiting, copy: Waiting): void {
  const [one, other] = [{ ...first }, copy]
  first.resolve = (answer) => [one, other].forEach(({ resolve }) => resolve(answer))
  first.reject = (error) => [one, other].forEach(({ reject }) => reject(error))
  first.dropAtMs = Math.max(first.dropAtMs, copy.dropAtMs)
}

function isFresh(start: StartAnswer | FreshExecution): start is FreshExecution {
  return 'plan' in start
}

/** Decides everything about a request that does not depend on others. */
async function decideStart(
  { packageCache, quotas }: Pick<StartDeps, 'packageCache' | 'quotas'>,
  database: Pick<Database, 'prisma' | 'sql'>,
  question: StartQuestion,
  facts: StartFacts,
  { openExecutions }: Pick<StartLimits, 'openExecutions'>,
): Promise<StartAnswer | FreshExecution> {
  const decided = decideCaller(question, facts) ?? decideRevision(question, facts)
  if (decided !== null) return decided
  const { sandbox } = question
  const { number: revision, digest } = facts.revision!
  if (digest === null) return refuseGraph(database, sandbox, revision)
  const flow = await packageCache.get({ sandbox, revision, digest })
  const input = await readInput(database, question, facts, flow)
  if ('refused' in input) return input
  return decideMeans(facts, openExecutions, quotas) ?? { question, facts, plan: flow.plan, values: input.values }
}

/**
 * Decides which new executions go into one batch. Of several under one idempotency key or with one id, one goes; the
 * others find it with the next batch.
 */
function openBatchAdmission({ openExecutions }: Pick<StartLimits, 'openExecutions'>) {
  const taken = new Set<string>()
  const begun = new Map<string, number>()

  return ({ question, facts }: FreshExecution): 'go' | 'later' | 'overloaded' => {
    const { id, idempotency } = question
    const project = facts.project!
    const names = [id, ...(idempotency === null ? [] : [JSON.stringify([project, scopeOf(question), idempotency.key])])]
    if (names.some((name) => taken.has(name))) return 'later'
    for (const name of names) taken.add(name)
    const already = begun.get(project) ?? 0
    if (facts.open + already >= openExecutions) return 'overloaded'
    begun.set(project, already + 1)
    return 'go'
  }
}

function startedAnswer({ question, facts }: FreshExecution): StartAnswer {
  const { chatOutput, number } = facts.revision!
  return {
    kind: 'started',
    execution: question.id,
    project: facts.project!,
    sandbox: question.sandbox,
    revision: number,
    key: facts.key,
    replayed: false,
    textField: question.surface === 'chat' ? chatOutput : null,
  }
}

/** Starts an execution. It is stored with the trace of its caller, or with the current span here (T3 of spans.ts). */
export async function startExecution(
  { startBatcher }: Pick<Deps, 'startBatcher'>,
  question: StartQuestion,
): Promise<StartAnswer> {
  const answer = await startBatcher.submit({ ...question, trace: question.trace ?? activeCarrier() })
  trace.getActiveSpan()?.setAttributes(attributesOf(answer))
  return answer
}

/** An execution that may start. */
interface FreshExecution {
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
async function writeStarts(
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
