import { LRUCache } from 'lru-cache'
import type { Sql } from '@gateway/database/client'
import type { ClaimItem } from '@gateway/contracts/flow-items'
import type { PlanNode } from '@gateway/flow/plan'
import type { Deps } from '../../deps.ts'
import { takerOf, type NodeItem } from '../nodes/node-item.ts'
import { readExecutions, type ExecutionsReading } from '../store/read-executions.ts'
import type { BegunExecution, ExecutionFacts } from '../store/execution-facts.ts'
import type { ExecutionCache, Snapshot } from './execution-cache.ts'

export interface LoadedExecutions extends ExecutionsReading {
  /** Executions that were not read: they may have changed (M1 of execution-cache.ts). */
  fromCache: ReadonlySet<string>
  /** Instances that were alive when last looked up, and were not looked up again. */
  assumedAlive: ReadonlySet<string>
}

export interface ExecutionLoader {
  /** Loads the executions of these items: from the cache what is there, and from the database the rest and `toRead`. */
  load(sql: Sql, items: readonly NodeItem[], toRead: ReadonlySet<string>): Promise<LoadedExecutions>
  /** Keeps an execution that this replica has just begun, so that it need not be read (M1 of execution-cache.ts). */
  introduce(begun: BegunExecution): void
  /** Some of the instances that were assumed alive may have ended. */
  forgetInstances(): void
}

/** Instances are few: one for each worker process. */
const MAX_INSTANCES = 10_000

export function openExecutionLoader(deps: Pick<Deps, 'packageCache' | 'now'>, cache: ExecutionCache): ExecutionLoader {
  const seenAlive = new LRUCache<string, true>({ max: MAX_INSTANCES })
  /** The database's clock less that of this process. */
  let aheadMs: number | null = null

  async function takeCached(items: readonly NodeItem[], toRead: ReadonlySet<string>) {
    const executions = new Map<string, ExecutionFacts>()
    const sourcesOf: ExecutionsReading['sourcesOf'] = new Map()
    for (const [execution, its] of Map.groupBy(items, (item) => item.execution)) {
      if (toRead.has(execution) || !its.every(isFromWorker)) continue
      const snapshot = cache.get(execution)
      if (snapshot === null) continue
      const sources = await sourcesOfClaims(snapshot, its)
      if (sources === null) continue
      for (const [claim, outputs] of sources) sourcesOf.set(claim, outputs)
      executions.set(execution, snapshot.execution)
    }
    return { executions, sourcesOf }
  }

  /** What the sources of these claims answered; null: the snapshot lacks some of it. */
  async function sourcesOfClaims({ execution, outputs }: Snapshot, items: NodeItem[]) {
    const { plan } = await deps.packageCache.get(execution)
    const sources: [NodeItem, Map<number, string>][] = []
    for (const claim of items.filter(isClaim)) {
      const node = plan.nodes.find(({ id }) => id === claim.node)
      const ended = sourcesIn(node).filter((ordinal) => execution.nodes[ordinal]?.state === 'Succeeded')
      if (!ended.every((ordinal) => outputs.has(ordinal))) return null
      sources.push([claim, new Map(ended.map((ordinal) => [ordinal, outputs.get(ordinal)!]))])
    }
    return sources
  }

  function keep(reading: ExecutionsReading, items: readonly NodeItem[]): void {
    aheadMs = reading.nowMs - deps.now()
    for (const instance of reading.alive) seenAlive.set(instance, true)
    for (const [id, execution] of reading.executions) {
      const outputs = items.flatMap((item) => (item.execution === id ? [...(reading.sourcesOf.get(item) ?? [])] : []))
      cache.setRead(execution, new Map(outputs))
    }
  }

  return {
    async load(sql, items, toRead) {
      const cached = await takeCached(items, toRead)
      const fromCache = new Set(cached.executions.keys())
      const takers = items.flatMap((item) => {
        const instance = takerOf(item)
        return instance === null ? [] : [{ execution: item.execution, instance }]
      })
      const assumedAlive = new Set(
        takers
          .filter(({ execution, instance }) => fromCache.has(execution) && seenAlive.get(instance))
          .map(({ instance }) => instance),
      )
      const instances = takers.map(({ instance }) => instance).filter((instance) => !assumedAlive.has(instance))
      const rest = items.filter(({ execution }) => !fromCache.has(execution))
      if (rest.length === 0 && instances.length === 0 && aheadMs !== null)
        return { ...cached, fromCache, alive: assumedAlive, assumedAlive, nowMs: Math.floor(deps.now() + aheadMs) }
      const reading = await readExecutions(sql, rest, instances)
      keep(reading, rest)
      return {
        executions: new Map([...cached.executions, ...reading.executions]),
        fromCache,
        alive: assumedAlive.union(reading.alive),
        assumedAlive,
        sourcesOf: new Map([...cached.sourcesOf, ...reading.sourcesOf]),
        nowMs: reading.nowMs,
      }
    },
    introduce({ outputs, deadlineInMs, ...facts }) {
      if (aheadMs === null) return // nothing was read yet: the database's clock is not known
      cache.setRead({ ...facts, deadlineMs: Math.floor(deps.now() + aheadMs) + deadlineInMs }, outputs)
    },
    forgetInstances: () => seenAlive.clear(),
  }
}

const isClaim = (item: NodeItem): item is ClaimItem => item.op === 'claim'

/** What maintenance finds is decided from the database. */
const isFromWorker = ({ op }: NodeItem): boolean => op === 'claim' || op === 'complete'

/** Ordinals of the nodes whose values its inputs take. */
export function sourcesIn(node: PlanNode | undefined): number[] {
  return [...new Set(node?.inputs.flatMap(({ sources }) => sources.map(({ ordinal }) => ordinal)))]
}
