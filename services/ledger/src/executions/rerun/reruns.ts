import { trace } from '@opentelemetry/api'
import { openSemaphore } from '@gateway/service-kit/async/semaphore'
import type { RerunAnswer, RerunQuestion } from '@gateway/ledger-protocol/flow-reads'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import { type Rerun, rerunFrom } from '@gateway/flow/rerun'
import { attributesOf } from '@gateway/ledger-client/span-attributes'
import { activeCarrier } from '@gateway/service-kit/process/spans'
import type { Deps, PackageName, Reruns } from '../../deps.ts'
import { enqueueJobs } from '../announce.ts'
import { decideMeans, type StartFacts, refuseGraph } from '../start/decide-start.ts'
import type { StartLimits } from '../start/start-batcher.ts'
import {
  decideEarlier,
  decideNodes,
  decideRepeat,
  type EarlierExecution,
  productsToRun,
  readEarlier,
  readMeans,
  readUnassigned,
  scopeOf,
} from './decide-rerun.ts'
import { flowLimits } from '@gateway/api/limits'
import type { Database } from '@gateway/database/client'
import type { Plan } from '@gateway/flow/plan'
import type { NodeJob } from '@gateway/node-queue/node-job'
import { sourcesIn } from '../cache/load-executions.ts'
import { beginExecutions, type ExecutionStart, type NodeStart } from '../store/write-executions.ts'

// Executions that reuse results of earlier ones (flows §4.12).
//   E1  The earlier execution has ended, so what is read of it no longer changes. Nothing is reserved: nodes that run
//       again request their money one by one, as in any execution.
//   E2  The idempotency key and the id are taken by their primary keys, in the transaction that starts the execution. A
//       request that comes second, here or on another replica, reads again and finds the first (S2, S3 of
//       start-batcher.ts).
//   E3  Reruns are few, and each is decided individually.

type RerunDeps = Pick<Deps, 'reads' | 'packageCache' | 'nodeQueue' | 'metrics' | 'quotas' | 'keptBytes'>
type Limits = Pick<StartLimits, 'maxConcurrentNodes' | 'openExecutions'>

/** E2: a request that loses finds the one that won. */
const MAX_ATTEMPTS = 3
const MAX_CONCURRENT = { permits: 2, maxWaiting: 200 }

export function openReruns(deps: RerunDeps, limits: Limits): Reruns {
  const semaphore = openSemaphore({
    ...MAX_CONCURRENT,
    whenFull: () => new Error('too many concurrent re-runs'),
  })
  return {
    submit: (question) =>
      semaphore.run(async () => {
        const answer = await begin(deps, { ...question, trace: question.trace ?? activeCarrier() }, limits)
        const span = trace.getActiveSpan()
        span?.setAttributes(attributesOf(answer))
        if (!('refused' in answer)) span?.setAttribute('service.rerun_of', question.execution) // else it may be any text
        return answer
      }),
  }
}

async function begin(deps: RerunDeps, question: RerunQuestion, limits: Limits): Promise<RerunAnswer> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const decided = await decide(deps, question, limits)
    if (!('fresh' in decided)) return decided
    const { started, jobs } = await writeRerun(deps.reads, decided.fresh, limits)
    if (!started) continue // E2
    deps.keptBytes.note(question.project, copiedBytes(decided.fresh))
    enqueueJobs(deps, jobs)
    const { sandbox, revision } = decided.fresh.name
    return { kind: 'started', execution: question.id, project: question.project, sandbox, revision, replayed: false }
  }
  throw new Error(`outcome unknown: ${question.id}`)
}

async function decide(
  deps: RerunDeps,
  question: RerunQuestion,
  limits: Limits,
): Promise<RerunAnswer | { fresh: FreshRerun }> {
  const { reads } = deps
  const earlier = await readEarlier(reads, question)
  const facts = await readMeans(reads, question, earlier, limits.openExecutions)
  const repeat = decideRepeat(question, facts)
  if (repeat !== null) return 'refused' in repeat ? repeat : begunBefore(deps, question, repeat)
  const refusal = decideEarlier(question, earlier, facts)
  if (refusal !== null) return refusal
  const fresh = await planRerun(deps, question, earlier!, facts)
  if ('refused' in fresh) return fresh
  const product = await readUnassigned(reads, question.project, productsToRun(fresh.plan, fresh.rerun))
  if (product !== null) return refused('product_not_assigned', { product })
  return decideMeans(facts, limits.openExecutions, deps.quotas) ?? { fresh }
}

async function begunBefore(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { project }: RerunQuestion,
  { execution, replayed }: { execution: string; replayed: boolean },
): Promise<RerunAnswer> {
  const select = { sandbox: true, revision: true }
  const begun = await prisma.execution.findFirst({ where: { id: execution, project }, select })
  if (begun === null) return refused('answer_not_kept', {})
  return { kind: 'started', execution, project, ...begun, replayed }
}

async function planRerun(
  { reads, packageCache }: Pick<Deps, 'reads' | 'packageCache'>,
  question: RerunQuestion,
  earlier: EarlierExecution,
  facts: StartFacts,
): Promise<FreshRerun | Refused> {
  const name = packageOf(question, earlier, facts)
  if (name === null) return refuseGraph(reads, earlier.sandbox, facts.revision!.number)
  const flow = await packageCache.get(name)
  const before = { ...(await packageCache.get(earlier)), states: earlier.nodes }
  const rerun = decideNodes(question, name.revision, rerunFrom(flow, before, question.from))
  return 'refused' in rerun ? rerun : { question, earlier, name, plan: flow.plan, rerun }
}

/** Returns the package of the revision, or for the earlier execution's revision the one it ran. null: it has none. */
function packageOf(
  { revision }: RerunQuestion,
  { sandbox, ...ran }: EarlierExecution,
  facts: StartFacts,
): PackageName | null {
  if (revision === null || revision === ran.revision) return { sandbox, revision: ran.revision, digest: ran.digest }
  const { number, digest } = facts.revision!
  return digest === null ? null : { sandbox, revision: number, digest }
}

/** An execution that may start. */
export interface FreshRerun {
  question: RerunQuestion
  earlier: EarlierExecution
  /** Package that it runs. */
  name: PackageName
  plan: Plan
  rerun: Extract<Rerun, { kind: 'rerun' }>
}

/**
 * Starts an execution in one round trip: the database copies the reused results, and the nodes that may run are
 * enqueued. `started` is false if its idempotency key or its id was taken meanwhile.
 */
async function writeRerun(
  database: Pick<Database, 'sql'>,
  fresh: FreshRerun,
  limits: { maxConcurrentNodes: number },
): Promise<{ started: boolean; jobs: NodeJob[] }> {
  const { question, earlier, name, plan, rerun } = fresh
  const { id, project, user, maxMicro, trace, idempotency } = question
  const nodes = firstNodes(fresh)
  const lines = nodes.filter(({ seq }) => seq !== null).length
  const isOver = rerun.states.every(({ state }) => state === 'Succeeded' || state === 'Skipped')
  const start: ExecutionStart = {
    id,
    project,
    ...name,
    key: null,
    lineage: null,
    userId: user,
    tag: null,
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

/** Returns the bytes that it copies: its input, the results it reuses, and its output if that is one of them. */
function copiedBytes({ earlier, plan, rerun: { takenOver, input } }: FreshRerun): number {
  const output = takenOver.get(plan.output)
  const copied = [...new Set([input, ...takenOver.values()]), ...(output === undefined ? [] : [output])]
  return copied.reduce((sum, ordinal) => sum + earlier.nodes[ordinal]!.bytes, 0)
}

/** Returns its initial nodes. Reused ones have their lines of progress in the order in which they ended before. */
function firstNodes({ earlier, plan, rerun: { takenOver, input, states } }: FreshRerun): NodeStart[] {
  const beforeOf = (ordinal: number) => (ordinal === plan.input ? input : (takenOver.get(ordinal) ?? null))
  const seqBefore = (ordinal: number) => earlier.nodes[beforeOf(ordinal) ?? -1]?.seq ?? 0
  const succeeded = plan.nodes
    .map(({ ordinal }) => ordinal)
    .filter((ordinal) => states[ordinal]!.state === 'Succeeded')
    .toSorted((a, b) => seqBefore(a) - seqBefore(b))
  return plan.nodes.map((node) => {
    const { ordinal, id, kind } = node
    const at = succeeded.indexOf(ordinal)
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
