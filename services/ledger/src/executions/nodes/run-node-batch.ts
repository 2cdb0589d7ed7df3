import type { Sql } from '@gateway/database/client'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Deps } from '../../deps.ts'
import type { Excess } from '../../metrics.ts'
import type { ExecutionLoader, LoadedExecutions } from '../cache/load-executions.ts'
import type { ExecutionChange } from '../store/read-executions.ts'
import { writeExecutions } from '../store/write-executions.ts'
import { decideExecution, decideOverdue } from './decide-execution.ts'
import type { ItemOutcome, NodeItem, WaitingNode } from './node-item.ts'

export interface NodeBatchResult {
  loaded: LoadedExecutions
  outcomes: Map<WaitingNode, Decided>
  /** Written changes with their new versions. Items of the others go with the next batch. */
  written: Map<ExecutionChange, number>
  jobs: NodeJob[]
  excesses: Excess[]
  /** Charge of each closed reservation, in micro-USD. */
  charged: ReadonlyMap<string, number>
}

interface Decided {
  outcome: ItemOutcome
  /** Change of the whole execution; null if nothing changes. */
  change: ExecutionChange | null
}

interface How {
  /** Wait for executions and wallets that others have locked. */
  waitForLocks: boolean
  maxConcurrentNodes: number
}

/** Loads the executions of a batch, decides, and writes what has not changed meanwhile. Does not answer the items. */
export async function runNodeBatch(
  deps: Pick<Deps, 'packageCache' | 'metrics' | 'newId'>,
  loader: ExecutionLoader,
  sql: Sql,
  batch: readonly WaitingNode[],
  { waitForLocks, maxConcurrentNodes }: How,
): Promise<NodeBatchResult> {
  const loaded = await loader.load(
    sql,
    batch.map(({ item }) => item),
    new Set(batch.flatMap(({ item, mustRead }) => (mustRead ? [item.execution] : []))),
  )
  const outcomes = new Map<WaitingNode, Decided>()
  const changes: ExecutionChange[] = []
  for (const [execution, its] of Map.groupBy(batch, ({ item }) => item.execution)) {
    const items = its.map(({ item }) => item)
    const decided = await decideItems(deps, loaded, execution, items)
    if (decided.change) changes.push(decided.change)
    its.forEach((waiting, n) => outcomes.set(waiting, { outcome: decided.outcomes[n]!, change: decided.change }))
  }
  if (changes.length === 0) return { loaded, outcomes, written: new Map(), jobs: [], excesses: [], charged: new Map() }
  const how = { waitForLocks, maxConcurrentNodes, assumedAlive: loaded.assumedAlive }
  const { written, jobs, excesses, fenced, perhapsCalled, charged } = await writeExecutions(sql, changes, how)
  for (let n = 0; n < fenced; n++) deps.metrics.fenced()
  if (perhapsCalled > 0) deps.metrics.perhapsCalled(perhapsCalled)
  traceCharges(batch, loaded, charged)
  return { loaded, outcomes, written, jobs, excesses, charged }
}

async function decideItems(
  { packageCache, newId }: Pick<Deps, 'packageCache' | 'newId'>,
  { executions, nowMs, alive }: LoadedExecutions,
  id: string,
  items: NodeItem[],
) {
  const execution = executions.get(id)
  if (!execution) return { outcomes: items.map(outcomeWithoutExecution), change: null }
  if (items.every(({ op }) => op === 'overdue'))
    return {
      outcomes: items.map((): ItemOutcome => ({ kind: 'nothing-to-do' })),
      change: decideOverdue({ execution, nowMs }),
    }
  const { plan, package: flow } = await packageCache.get(execution)
  const requiredOutputs = flow.output.required ?? []
  return decideExecution({
    execution,
    plan,
    requiredOutputs,
    items,
    nowMs,
    alive: alive,
    newCallId: () => newId('inv'),
  })
}

function outcomeWithoutExecution({ op }: NodeItem): ItemOutcome {
  return { kind: op === 'complete' ? 'fenced' : 'nothing-to-do' }
}

/** Records on the span of each completed node what it was charged, in micro-USD. */
function traceCharges(
  batch: readonly WaitingNode[],
  { executions }: LoadedExecutions,
  charged: Map<string, number>,
): void {
  for (const { item, span } of batch) {
    if (item.op !== 'complete' || span === undefined) continue
    const node = executions.get(item.execution)?.nodes.find(({ lease }) => lease === item.lease)
    const micro = node?.reservation ? charged.get(node.reservation) : undefined
    if (micro !== undefined) span.setAttribute('service.charged_micro', micro)
  }
}
