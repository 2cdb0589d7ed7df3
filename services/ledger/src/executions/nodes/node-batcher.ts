import { trace } from '@opentelemetry/api'
import { openItemBatcher } from '@gateway/service-kit/async/batcher'
import type { Claimed, ClaimOutcome, CompleteItem, CompleteOutcome } from '@gateway/ledger-protocol/flow-items'
import { callFunction } from '@gateway/database/call-function'
import { reportExcesses } from '../../admissions/report-excesses.ts'
import { joinCopy } from '../../admissions/waiting-items.ts'
import { type BatchMode, withShortTimeout, openResilientBatches } from '../../quarantine/resilient-batches.ts'
import { openKeptItems, projectsOfExecutions } from '../../quarantine/kept-items.ts'
import { openExecutionCache, openExecutionLoader } from '../cache/load-executions.ts'
import { enqueueJobs, notifyChanges } from '../announce.ts'
import { pushLines } from '../records/push-lines.ts'
import type { ExecutionChange } from '../store/read-executions.ts'
import { writeOffFenced } from '../store/write-executions.ts'
import type { Deps, NodeBatcher } from '../../deps.ts'
import type { Remembered } from '../../quarantine/quarantine.ts'
import { answerGranted } from './answer-granted.ts'
import { nameOfItem, type Granted, type ItemOutcome, type NodeItem, type WaitingNode } from './node-item.ts'
import { runNodeBatch, type NodeBatchResult } from './run-node-batch.ts'

// Decides what workers ask about nodes, and what maintenance finds, in batches, one of them in flight. Errors are
// handled in resilient-batches.ts: a bad item quarantines its whole execution.
//   L1  A batch loads its executions, decides, and writes those that have not changed since: two round trips, no lock
//       between them. What was not written goes with the next batch, which reads it (F1 of write_executions). What
//       this replica has just written need not be read (M1 of load-executions.ts).
//   L2  After one deferral a batch waits for the locks that others have on executions and wallets. After three it locks
//       the executions before it reads them.
//   L3  An item past its deadline is dropped undecided, by a timer too; one that is repeated while it waits takes no
//       more room (W1, W2 of packages/service-kit/src/async/batcher.ts).
//   L4  Jobs, lines and notifications follow the commit, and nothing depends on them: maintenance finds what was lost.
//       They and the answers go out while the next batch is with the database (B4 of the batcher), the answers first:
//       the worker that ended a node is the one that has the inputs of the next (R13 of decide-execution.ts).
//   L5  Before a completion is answered `fenced`, what its call used is written off. A repeated item adds nothing.

type NodeBatcherDeps = Pick<
  Deps,
  | 'executions'
  | 'reads'
  | 'packageCache'
  | 'quarantine'
  | 'notifier'
  | 'nodeQueue'
  | 'metrics'
  | 'now'
  | 'newId'
  | 'keptBytes'
>

export interface NodeBatcherLimits {
  batchItems: number
  /** Nodes of one project that may be in the queue or running. */
  maxConcurrentNodes: number
}

const WAIT_AFTER = 1
const LOCK_AFTER = 3
const CACHED = { maxExecutions: 10_000, maxCharacters: 32 * 1024 * 1024 }

export function openNodeBatcher(
  deps: NodeBatcherDeps,
  { batchItems, maxConcurrentNodes }: NodeBatcherLimits,
): NodeBatcher {
  const { now, metrics } = deps
  const keep = openKeptItems(deps)
  const batches = openResilientBatches<WaitingNode>(deps, {
    waitForLocksAfter: WAIT_AFTER,
    idOf: ({ item }) => quarantineId(item),
    groupsOf: ({ item, project }) => (item.op === 'complete' && project ? [`closings ${project}`] : []),
    partOf: ({ item }) => item.execution,
    identify: (entries) => identifyCompletions(deps, entries),
    run: decide,
    putBack,
    drop,
    answerFromMemory,
    report: ({ item }, error) => metrics.quarantined({ id: item.execution }, error),
  })
  const batcher = openItemBatcher<WaitingNode>({
    maxItems: batchItems,
    run: batches.run,
    now,
    line: { nameOf: ({ item }) => nameOfItem(item), join: joinCopy, dropAtMs: ({ dropAtMs }) => dropAtMs, drop },
  })
  const cache = openExecutionCache(CACHED)
  const loader = openExecutionLoader(deps, cache)

  /** L3 */
  function drop({ outcomeUnknown, answer }: WaitingNode): void {
    answer({ kind: 'undecided', why: outcomeUnknown ? 'unknown' : 'unavailable' })
  }

  function putBack(waiting: WaitingNode): void {
    waiting.mustRead = true
    batcher.add(waiting)
  }

  async function decide(batch: WaitingNode[], mode: BatchMode<WaitingNode>): Promise<void> {
    const startMs = now()
    try {
      const result = await runBatch(batch, mode)
      mode.onWritten(result.charged.size > 0)
      await answerAll(batch, result, mode.passOver)
      metrics.nodeBatch(batch.length, now() - startMs)
    } catch (error) {
      for (const { item } of batch) cache.delete(item.execution) // M3 of load-executions.ts
      throw error
    }
  }

  /** L1, L2 */
  async function runBatch(batch: WaitingNode[], { waitForLocks, shortTimeout, outside }: BatchMode<WaitingNode>) {
    const how = { waitForLocks, maxConcurrentNodes }
    if (outside) for (const waiting of batch) waiting.mustRead = true
    if (shortTimeout)
      return withShortTimeout(outside ? deps.reads : deps.executions, (sql) =>
        runNodeBatch(deps, loader, sql, batch, how),
      )
    const { sql } = deps.executions
    if (batch.every(({ deferrals }) => deferrals < LOCK_AFTER)) return runNodeBatch(deps, loader, sql, batch, how)
    return sql.transaction(async (transaction) => {
      await callFunction(transaction, 'money.lock_executions', {
        ids: [...new Set(batch.map(({ item }) => item.execution))],
      })
      return runNodeBatch(deps, loader, transaction, batch, how)
    })
  }

  /** A3 of quarantine.ts: workers get a final answer. Maintenance retries, and so does the caller that cancels. */
  async function answerFromMemory(waiting: WaitingNode, { givenUp, error }: Remembered): Promise<void> {
    const { item } = waiting
    if (!givenUp || (item.op !== 'claim' && item.op !== 'complete')) drop(waiting)
    else if (item.op === 'claim' || (await keep(withoutNext(item), error))) waiting.answer({ kind: 'quarantined' })
    else drop(waiting)
  }

  async function answerAll(
    batch: WaitingNode[],
    result: NodeBatchResult,
    passOver: (waiting: WaitingNode) => void,
  ): Promise<void> {
    const { outcomes, written, jobs, excesses, charged } = result
    void reportExcesses(deps, excesses)
    await writeOffFenced(deps, deps.executions.sql, fencedIn(batch, outcomes)) // L5
    const announce = () => {
      enqueueJobs(deps, jobs)
      pushLines(deps, [...written.keys()], charged).catch(metrics.pushFailed)
      notifyChanges(deps, written.keys())
    }
    for (const change of written.keys()) deps.keptBytes.note(change.execution.project, bytesOf(change))
    const decided = batch.filter((waiting) => deferralsMore(waiting, result) === null)
    const granted = await answerGranted(deps, { sql: deps.executions.sql, cache }, result, decided).catch((error) => {
      batcher.follow(announce) // the batch is written
      throw error
    })
    updateCache(result)
    for (const waiting of batch) {
      const more = deferralsMore(waiting, result)
      if (more === null) continue
      waiting.deferrals += more
      passOver(waiting)
    }
    batcher.follow(() => {
      for (const waiting of decided) waiting.answer(answerOf(outcomes.get(waiting)!.outcome, granted))
      announce() // L4
    })
  }

  function updateCache({ loaded, outcomes, written }: NodeBatchResult): void {
    const changes = new Set([...outcomes.values()].flatMap(({ change }) => (change === null ? [] : [change])))
    if (loaded.assumedAlive.size > 0 && changes.size > 0 && written.size === 0) loader.forgetInstances()
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
        const dropAtMs = now() + budgetMs
        const waiting = { item, span, dropAtMs, deferrals: 0, mustRead: false, outcomeUnknown: false, answer }
        if (!batches.take(waiting)) batcher.add(waiting)
      })) as NodeBatcher['submit'],
    introduce: loader.introduce,
    waiting: batcher.waiting,
    async drain() {
      await batcher.idle()
      await batches.idle()
      await batcher.idle() // what follows a retry
    },
  }
}

function answerOf(outcome: ItemOutcome, granted: ReadonlyMap<Granted, Claimed>): ClaimOutcome | CompleteOutcome {
  if (outcome.kind === 'claimed') return granted.get(outcome)!
  if (outcome.kind !== 'completed') return outcome as ClaimOutcome // of an item that has a caller
  const ready = (outcome.ready ?? []).flatMap((node) => granted.get(node) ?? [])
  return {
    kind: 'completed',
    ...(outcome.next && { next: granted.get(outcome.next)! }),
    ...(ready.length > 0 && { ready }),
  }
}

/** Deferrals to add to an item that must be decided again; null if its decision is final. */
function deferralsMore(waiting: WaitingNode, { loaded, outcomes, written }: NodeBatchResult): number | null {
  const { outcome, change } = outcomes.get(waiting)!
  if (change !== null && written.has(change)) return null
  if (change === null && 'isUnrecorded' in outcome) return null // it may be stale, which costs nothing (R12 of decide-execution.ts)
  if (loaded.fromCache.has(waiting.item.execution)) return 0 // M1 of load-executions.ts
  return change === null ? null : 1
}

function fencedIn(batch: readonly WaitingNode[], outcomes: NodeBatchResult['outcomes']): CompleteItem[] {
  return batch.flatMap((waiting) => {
    const { item } = waiting
    return item.op === 'complete' && outcomes.get(waiting)!.outcome.kind === 'fenced' ? [item] : []
  })
}

/** Removes the next node: the sender gets a final answer, and will not run another node. */
function withoutNext({ next: _, ...item }: CompleteItem): CompleteItem {
  return item
}

/** Claims are quarantined separately: a claim that succeeds says nothing about items that end nodes, and vice versa. */
function quarantineId({ op, execution }: NodeItem): string {
  return op === 'claim' ? `claim ${execution}` : execution
}

/** Adds the projects of completions, by their executions. If the query fails, they stay unknown. */
async function identifyCompletions(deps: Pick<Deps, 'reads'>, batch: readonly WaitingNode[]): Promise<void> {
  const unknown = batch.filter(({ item, project }) => item.op === 'complete' && project === undefined)
  if (unknown.length === 0) return
  const ids = unknown.map(({ item }) => item.execution)
  const projects = await projectsOfExecutions(deps, ids).catch(() => null)
  if (projects !== null) for (const waiting of unknown) waiting.project = projects.get(waiting.item.execution) ?? null
}

/** What a change adds to what is kept, in UTF-16 units, which are bytes for most values. */
function bytesOf({ nodes, output }: ExecutionChange): number {
  let bytes = output?.length ?? 0
  for (const node of nodes.values()) bytes += (node.output?.length ?? 0) + (node.error?.length ?? 0)
  return bytes
}
