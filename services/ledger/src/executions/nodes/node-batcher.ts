import { setTimeout as delay } from 'node:timers/promises'
import { trace } from '@opentelemetry/api'
import { openItemBatcher } from '@gateway/async/batcher'
import type { Claimed, ClaimOutcome, CompleteItem, CompleteOutcome } from '@gateway/contracts/flow-items'
import { callFunction } from '@gateway/database/call-function'
import { classify, lockedOut, ranOutOfTime } from '../../admissions/classify-error.ts'
import { joinCopy } from '../../admissions/join-copy.ts'
import type { Deps, NodeBatcher } from '../../deps.ts'
import { halvesOf } from '../../set-aside/halves-of.ts'
import { inAHurry } from '../../set-aside/in-a-hurry.ts'
import { openExecutionCache } from '../cache/execution-cache.ts'
import { openExecutionLoader } from '../cache/load-executions.ts'
import { enqueueJobs } from '../enqueue-jobs.ts'
import { notifyChanges } from '../notify-changes.ts'
import { answerGranted } from './answer-granted.ts'
import { nameOfItem, type ItemOutcome, type NodeItem, type WaitingNode } from './node-item.ts'
import { identifyCompletions, nameAside, openNodesAside } from './nodes-aside.ts'
import { runNodeBatch, type NodeBatchResult } from './run-node-batch.ts'
import { writeOffFenced } from '../store/write-off-fenced.ts'

// What workers ask about nodes, and what maintenance finds, decided many at a time with one batch in flight.
//   L1  A batch loads its executions, decides, and writes those that have not changed since: two round trips, no lock
//       between them. What was not written goes with the next batch, which reads it (F1 of write_executions_v2). What
//       this replica has just written it need not read (M1 of execution-cache.ts).
//   L2  After one deferral a batch waits for the locks that others have on executions and wallets. After three it locks
//       the executions before it reads them.
//   L3  A transient error leaves open whether the batch was written. Every item may be repeated, so it is asked again.
//   L4  Any other error: the batch is taken apart by halves until the items are found that Postgres refuses. Their
//       executions are set aside with an alarm: they are tried alone, and answered at once in between (A1 to A6 of
//       set-aside.ts). So is a batch that runs out of time again, its parts with little time each.
//   L5  An item past its time is dropped undecided, by a timer too; one that is sent again while it waits takes no more
//       room (W1, W2 of packages/async/src/waiting-line.ts).
//   L6  Notifications and jobs come after the commit, and nothing depends on them: maintenance finds what was lost.
//   L7  Before a completion is answered `fenced`, what its call used is written off. An item that is repeated adds nothing.

type NodeBatcherDeps = Pick<
  Deps,
  'executions' | 'reads' | 'packageCache' | 'setAside' | 'notifier' | 'nodeQueue' | 'metrics' | 'now' | 'newId'
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

/** How a batch is run. */
interface How {
  /** It waits for executions and wallets that others have locked. */
  patient: boolean
  /** It has little time. */
  hurried: boolean
}

export function openNodeBatcher(deps: NodeBatcherDeps, { batchItems, nodesAtOnce }: NodeBatcherLimits): NodeBatcher {
  const { now, metrics, setAside } = deps
  const batcher = openItemBatcher<WaitingNode>({
    maxItems: batchItems,
    run: send,
    now,
    line: { nameOf: ({ item }) => nameOfItem(item), join: joinCopy, dropAtMs: ({ dropAtMs }) => dropAtMs, drop },
  })
  const cache = openExecutionCache(CACHED)
  const loader = openExecutionLoader(deps, cache)
  const aside = openNodesAside(deps, { tryAlone, drop })

  /** L5 */
  function drop({ ambiguous, answer }: WaitingNode): void {
    answer({ kind: 'undecided', why: ambiguous ? 'unknown' : 'unavailable' })
  }

  async function send(batch: WaitingNode[]): Promise<void> {
    const together = aside.leaveOut(batch) // an item of an execution that was refused meanwhile
    if (together.length > 0) await attempt(together, { hurried: false })
  }

  async function attempt(batch: WaitingNode[], { hurried }: Pick<How, 'hurried'>): Promise<void> {
    const startMs = now()
    const deferrals = Math.max(...batch.map((waiting) => waiting.deferrals))
    const how = { patient: deferrals >= WAIT_AFTER, hurried }
    try {
      await answerAll(batch, await decide(batch, deferrals, how), again)
      metrics.nodeBatch(batch.length, now() - startMs)
    } catch (error) {
      for (const { item } of batch) cache.delete(item.execution) // M3 of execution-cache.ts
      await recover(batch, error, how)
    }
  }

  async function recover(batch: WaitingNode[], error: unknown, { patient, hurried }: How): Promise<void> {
    if (lockedOut(error)) {
      if (!patient) metrics.lockedOut() // it waits for no wallet and no execution
      for (const waiting of batch) again(waiting, DEFERRALS_AFTER_LOCKOUT) // the others go on without that wallet for a while
    } else if (isRepeated(batch, error, hurried)) {
      for (const waiting of batch) {
        waiting.ambiguous ||= !ranOutOfTime(error) // L3
        again(waiting, waiting.deferrals)
      }
      await delay(RETRY_MS)
    } else if (batch.length > 1) await takeApart(batch, hurried || ranOutOfTime(error))
    else await refused(batch[0]!, error)
  }

  function isRepeated(batch: WaitingNode[], error: unknown, hurried: boolean): boolean {
    if (!ranOutOfTime(error)) return classify(error) === 'transient'
    return !hurried && !setAside.ranOutOfTime(batch.map(({ item }) => nameAside(item)))
  }

  /** L4. What belongs to one execution stands side by side. */
  async function takeApart(batch: WaitingNode[], hurried: boolean): Promise<void> {
    await identifyCompletions(deps, batch)
    const byExecution = [...Map.groupBy(batch, ({ item }) => item.execution).values()].flat()
    for (const part of halvesOf(aside.leaveOut(byExecution))) {
      const together = aside.leaveOut(part) // of what was found in the part before it
      if (together.length > 0) await attempt(together, { hurried })
    }
  }

  /** On a connection that no batch waits for. */
  async function tryAlone(waiting: WaitingNode): Promise<void> {
    const how = { patient: true, nodesAtOnce }
    waiting.mustRead = true
    try {
      const result = await inAHurry(deps.reads, (transaction) =>
        runNodeBatch(deps, loader, transaction, [waiting], how),
      )
      setAside.decided(nameAside(waiting.item))
      await answerAll([waiting], result, drop)
    } catch (error) {
      cache.delete(waiting.item.execution) // M3 of execution-cache.ts
      if (ranOutOfTime(error) || (!lockedOut(error) && classify(error) === 'final')) return refused(waiting, error)
      waiting.ambiguous ||= !lockedOut(error) // L3
      drop(waiting)
    }
  }

  async function refused(waiting: WaitingNode, error: unknown): Promise<void> {
    metrics.setAside({ id: waiting.item.execution }, error)
    await identifyCompletions(deps, [waiting])
    aside.refused(waiting, error)
  }

  function again(waiting: WaitingNode, deferrals: number): void {
    waiting.deferrals = deferrals
    waiting.mustRead = true
    batcher.add(waiting)
  }

  /** L1, L2 */
  async function decide(batch: WaitingNode[], deferrals: number, { patient, hurried }: How): Promise<NodeBatchResult> {
    const how = { patient, nodesAtOnce }
    const { sql } = deps.executions
    if (hurried) return inAHurry(deps.executions, (transaction) => runNodeBatch(deps, loader, transaction, batch, how))
    if (deferrals < LOCK_AFTER) return runNodeBatch(deps, loader, sql, batch, how)
    return sql.transaction(async (transaction) => {
      await callFunction(transaction, 'money.lock_executions_v1', {
        ids: [...new Set(batch.map(({ item }) => item.execution))],
      })
      return runNodeBatch(deps, loader, transaction, batch, how)
    })
  }

  /** @param notWritten takes what has to be decided anew */
  async function answerAll(
    batch: WaitingNode[],
    result: NodeBatchResult,
    notWritten: (waiting: WaitingNode, deferrals: number) => void,
  ): Promise<void> {
    const { outcomes, written, jobs } = result
    await writeOffFenced(deps, deps.executions.sql, fencedIn(batch, outcomes)) // L7
    notifyChanges(deps, written.keys()) // L6
    enqueueJobs(deps, jobs)
    const decided = batch.filter((waiting) => deferralsMore(waiting, result) === null)
    const granted = await answerGranted(deps, { sql: deps.executions.sql, cache }, result, decided)
    updateCache(result)
    for (const waiting of batch) {
      const more = deferralsMore(waiting, result)
      const { outcome } = outcomes.get(waiting)!
      if (more !== null) notWritten(waiting, waiting.deferrals + more)
      else waiting.answer(answerOf(outcome, granted.get(waiting)))
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
        const dropAtMs = now() + budgetMs
        const waiting = { item, span, dropAtMs, deferrals: 0, mustRead: false, ambiguous: false, answer }
        if (!aside.take(waiting)) batcher.add(waiting)
      })) as NodeBatcher['submit'],
    introduce: loader.introduce,
    waiting: batcher.waiting,
    async drain() {
      await batcher.idle()
      await aside.idle()
    },
  }
}

function answerOf(outcome: ItemOutcome, granted: Claimed | undefined): ClaimOutcome | CompleteOutcome {
  if (granted === undefined) return outcome as ClaimOutcome | CompleteOutcome // neither claimed nor handed on
  return outcome.kind === 'completed' ? { kind: 'completed', next: granted } : granted
}

/** How many deferrals more an item has that is to be decided anew; null: what was decided of it stands. */
function deferralsMore(waiting: WaitingNode, { loaded, outcomes, written }: NodeBatchResult): number | null {
  const { change } = outcomes.get(waiting)!
  if (change !== null && written.has(change)) return null
  if (loaded.fromCache.has(waiting.item.execution)) return 0 // M1 of execution-cache.ts
  return change === null ? null : 1
}

function fencedIn(batch: readonly WaitingNode[], outcomes: NodeBatchResult['outcomes']): CompleteItem[] {
  return batch.flatMap((waiting) => {
    const { item } = waiting
    return item.op === 'complete' && outcomes.get(waiting)!.outcome.kind === 'fenced' ? [item] : []
  })
}
