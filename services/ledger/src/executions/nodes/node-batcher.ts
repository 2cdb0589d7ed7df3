import { setTimeout as delay } from 'node:timers/promises'
import { trace } from '@opentelemetry/api'
import { openItemBatcher } from '@gateway/async/batcher'
import type { CompleteItem } from '@gateway/contracts/flow-items'
import { callFunction } from '@gateway/database/call-function'
import { classify, lockedOut } from '../../admissions/classify-error.ts'
import type { Deps, NodeBatcher } from '../../deps.ts'
import { openExecutionCache } from '../cache/execution-cache.ts'
import { openExecutionLoader } from '../cache/load-executions.ts'
import { enqueueJobs } from '../enqueue-jobs.ts'
import { notifyChanges } from '../notify-changes.ts'
import { answerClaim } from './answer-claim.ts'
import { nameOfItem, type NodeItem, type WaitingNode } from './node-item.ts'
import { runNodeBatch, type NodeBatchResult } from './run-node-batch.ts'
import { writeOffFenced } from '../store/write-off-fenced.ts'

// What workers ask about nodes, and what maintenance finds, decided many at a time with one batch in flight.
//   L1  A batch loads its executions, decides, and writes those that have not changed since: two round trips, no lock
//       between them. What was not written goes with the next batch, which reads it (F1 of write_executions_v1). What
//       this replica has just written it need not read (M1 of execution-cache.ts).
//   L2  After one deferral a batch waits for the locks that others have on executions and wallets. After three it locks
//       the executions before it reads them.
//   L3  A transient error leaves open whether the batch was written. Every item may be repeated, so it is asked again.
//   L4  Any other error: the items go one by one, and the one that fails is set aside with an alarm.
//   L5  An item past its time is dropped undecided, by a timer too; one that is sent again while its copy waits takes that
//       copy's place (W1, W2 of packages/async/src/waiting-line.ts).
//   L6  Notifications and jobs come after the commit, and nothing depends on them: maintenance finds what was lost.
//   L7  Before a completion is answered `fenced`, what its call used is written off. An item that is repeated adds nothing.

type NodeBatcherDeps = Pick<
  Deps,
  'executions' | 'packageCache' | 'notifier' | 'nodeQueue' | 'metrics' | 'now' | 'newId'
>

export interface NodeBatcherLimits {
  batchItems: number
  /** Of one project, in the queue or running. */
  nodesAtOnce: number
}

const WAIT_AFTER = 1
const LOCK_AFTER = 3
/** How many batches an item goes with before one of them waits for a lock again. */
const DEFERRALS_AFTER_LOCKOUT = -20
const RETRY_MS = 50
const CACHED = { maxExecutions: 10_000, maxCharacters: 32 * 1024 * 1024 }

export function openNodeBatcher(deps: NodeBatcherDeps, { batchItems, nodesAtOnce }: NodeBatcherLimits): NodeBatcher {
  const { now, metrics } = deps
  const line = { nameOf: ({ item }: WaitingNode) => nameOfItem(item), dropAtMs: (it: WaitingNode) => it.dropAtMs, drop }
  const batcher = openItemBatcher<WaitingNode>({ maxItems: batchItems, run: attempt, line, now })
  const cache = openExecutionCache(CACHED)
  const loader = openExecutionLoader(deps, cache)

  /** L5 */
  function drop({ ambiguous, answer }: WaitingNode): void {
    answer({ kind: 'undecided', why: ambiguous ? 'unknown' : 'unavailable' })
  }

  async function attempt(batch: WaitingNode[]): Promise<void> {
    const startMs = now()
    try {
      await answerAll(batch, await decide(batch))
      metrics.nodeBatch(batch.length, now() - startMs)
    } catch (error) {
      for (const { item } of batch) cache.delete(item.execution) // M3 of execution-cache.ts
      await recover(batch, error)
    }
  }

  async function recover(batch: WaitingNode[], error: unknown): Promise<void> {
    if (lockedOut(error)) {
      for (const waiting of batch) again(waiting, DEFERRALS_AFTER_LOCKOUT) // the others go on without that wallet for a while
    } else if (classify(error) === 'transient') {
      for (const waiting of batch) {
        waiting.ambiguous = true // L3
        again(waiting, waiting.deferrals)
      }
      await delay(RETRY_MS)
    } else if (batch.length > 1) {
      for (const waiting of batch) await attempt([waiting]) // L4
    } else {
      const { item, ambiguous, answer } = batch[0]!
      metrics.setAside({ id: item.execution }, error)
      answer({ kind: 'undecided', why: ambiguous ? 'unknown' : 'unavailable' })
    }
  }

  function again(waiting: WaitingNode, deferrals: number): void {
    waiting.deferrals = deferrals
    waiting.mustRead = true
    batcher.add(waiting)
  }

  /** L1, L2 */
  async function decide(batch: WaitingNode[]): Promise<NodeBatchResult> {
    const deferrals = Math.max(...batch.map((waiting) => waiting.deferrals))
    const how = { patient: deferrals >= WAIT_AFTER, nodesAtOnce }
    const { prisma } = deps.executions
    if (deferrals < LOCK_AFTER) return runNodeBatch(deps, loader, prisma, batch, how)
    return prisma.$transaction(async (transaction) => {
      await callFunction(transaction, 'money.lock_executions_v1', {
        ids: [...new Set(batch.map(({ item }) => item.execution))],
      })
      return runNodeBatch(deps, loader, transaction, batch, how)
    })
  }

  async function answerAll(batch: WaitingNode[], result: NodeBatchResult): Promise<void> {
    const { loaded, outcomes, written, jobs } = result
    await writeOffFenced(deps, deps.executions.prisma, fencedIn(batch, outcomes)) // L7
    notifyChanges(deps, written.keys()) // L6
    enqueueJobs(deps, jobs)
    updateCache(result)
    for (const waiting of batch) {
      const { execution } = waiting.item
      const { outcome, change } = outcomes.get(waiting)!
      const isWritten = change !== null && written.has(change)
      if (loaded.fromCache.has(execution) && !isWritten) again(waiting, waiting.deferrals) // M1 of execution-cache.ts
      else if (change !== null && !isWritten) again(waiting, waiting.deferrals + 1)
      else if (outcome.kind !== 'claimed') waiting.answer(outcome)
      else {
        const facts = loaded.executions.get(execution)!
        const flow = await deps.packageCache.get(facts.sandbox, facts.revision)
        const sources = loaded.sourcesOf.get(waiting.item)!
        waiting.answer(answerClaim({ execution: facts, change, outcome, flow, sources }))
      }
    }
  }

  function updateCache({ loaded, outcomes, written }: NodeBatchResult): void {
    const changes = new Set([...outcomes.values()].flatMap(({ change }) => (change === null ? [] : [change])))
    if (loaded.assumedAlive.size > 0 && written.size === 0) loader.forgetInstances()
    for (const change of changes) {
      const version = written.get(change)
      const { id } = change.execution
      if (loaded.fromCache.has(id)) cache.judge(id, version !== undefined)
      if (version === undefined) cache.delete(id)
      else cache.setWritten(change, version, loaded.nowMs)
    }
  }

  return {
    submit: ((item: NodeItem, budgetMs: number) =>
      new Promise((answer) => {
        const span = trace.getActiveSpan()
        batcher.add({ item, span, dropAtMs: now() + budgetMs, deferrals: 0, mustRead: false, ambiguous: false, answer })
      })) as NodeBatcher['submit'],
    waiting: batcher.waiting,
    drain: batcher.idle,
  }
}

function fencedIn(batch: readonly WaitingNode[], outcomes: NodeBatchResult['outcomes']): CompleteItem[] {
  return batch.flatMap((waiting) => {
    const { item } = waiting
    return item.op === 'complete' && outcomes.get(waiting)!.outcome.kind === 'fenced' ? [item] : []
  })
}
