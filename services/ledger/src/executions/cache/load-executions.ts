import { LRUCache } from 'lru-cache'
import type { Sql } from '@gateway/database/client'
import type { ClaimItem } from '@gateway/ledger-protocol/flow-items'
import type { PlanNode } from '@gateway/flow/plan'
import type { Deps } from '../../deps.ts'
import { type NodeItem, takerOf } from '../nodes/node-item.ts'
import { type ExecutionsReading, readExecutions } from '../store/read-executions.ts'
import { type BegunExecution, type ExecutionChange, type ExecutionFacts, hasEnded } from '../store/execution-facts.ts'

export interface LoadedExecutions extends ExecutionsReading {
  /** Executions that were not read: they may have changed (M1 of load-executions.ts). */
  fromCache: ReadonlySet<string>
  /** Instances that were alive when last looked up, and were not looked up again. */
  assumedAlive: ReadonlySet<string>
}

export interface ExecutionLoader {
  /** Loads the executions of these items: from the cache what is there, and from the database the rest and `toRead`. */
  load(sql: Sql, items: readonly NodeItem[], toRead: ReadonlySet<string>): Promise<LoadedExecutions>
  /** Keeps an execution that this replica has just begun, so that it need not be read (M1 of load-executions.ts). */
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

// What this replica last read, wrote or began of executions that continue, so that the next batch about them needs no reading:
// optimistic concurrency by `version`.
//   M1  A snapshot may be old. What is decided from it counts when it has been written, which the version of the
//       execution allows only if nothing has changed (F1 of write_executions). What writes nothing is decided from a
//       reading.
//   M2  Where another replica works on the same executions snapshots are often old, and each old one costs a write for
//       nothing. An execution whose snapshot was old once is read from then on, and where many are, none is taken from
//       here for a while.
//   M3  An execution is dropped when it has ended, and whenever it is not known what came of a write.

export interface Snapshot {
  execution: ExecutionFacts
  /** Of nodes that have ended, as far as they are known: JSON text by ordinal. */
  outputs: Map<number, string>
}

export interface ExecutionCache {
  get(execution: string): Snapshot | null
  /** What its nodes are known to have answered: JSON text by ordinal. An output never changes. */
  outputsOf(execution: string): ReadonlyMap<number, string>
  /** Keeps an execution as it was read, with what was read of its outputs. */
  setRead(execution: ExecutionFacts, outputs: ReadonlyMap<number, string>): void
  /** Keeps an execution as it was written. */
  setWritten(change: ExecutionChange, version: number, nowMs: number): void
  delete(execution: string): void
  /** Notes whether a snapshot was still as the execution is (M2). */
  judge(execution: string, wasCurrent: boolean): void
}

interface Limits {
  maxExecutions: number
  /** Of outputs. */
  maxCharacters: number
}

/** M2: of this many snapshots no more may be old, or this many lookups find nothing. */
const JUDGED = { snapshots: 100, old: 10, pausedLookups: 2_000 }

export function openExecutionCache({ maxExecutions, maxCharacters }: Limits): ExecutionCache {
  const snapshots = new LRUCache<string, Snapshot>({
    max: maxExecutions,
    maxSize: maxCharacters,
    sizeCalculation: ({ outputs }) => [...outputs.values()].reduce((sum, text) => sum + text.length, 1),
  })
  const neverCached = new LRUCache<string, true>({ max: maxExecutions })
  let [judged, old, paused] = [0, 0, 0]

  function set(execution: ExecutionFacts, outputs: Map<number, string>): void {
    snapshots.delete(execution.id)
    if (!neverCached.has(execution.id)) snapshots.set(execution.id, { execution, outputs })
  }

  return {
    get(execution) {
      if (paused > 0) paused--
      return paused > 0 ? null : (snapshots.get(execution) ?? null)
    },
    outputsOf: (execution) => snapshots.peek(execution)?.outputs ?? new Map<number, string>(),
    setRead(execution, outputs) {
      const known = snapshots.peek(execution.id)?.outputs ?? [] // an output never changes
      if (!hasEnded(execution)) set(execution, new Map([...known, ...outputs]))
    },
    setWritten(change, version, nowMs) {
      const { execution, nodes } = change
      const outputs = snapshots.peek(execution.id)?.outputs ?? new Map<number, string>()
      if (hasEnded(change)) {
        neverCached.delete(execution.id)
        snapshots.delete(execution.id)
        return
      }
      for (const [ordinal, { output }] of nodes) if (output !== null) outputs.set(ordinal, output)
      set(afterwards(change, version, nowMs), outputs)
    },
    delete: (execution) => void snapshots.delete(execution),
    judge(execution, wasCurrent) {
      if (!wasCurrent) {
        snapshots.delete(execution)
        neverCached.set(execution, true)
        old++
      }
      if (++judged < JUDGED.snapshots) return
      if (old > JUDGED.old) paused = JUDGED.pausedLookups
      judged = old = 0
    },
  }
}

/** An execution as a reading would find it after this change. */
function afterwards(change: ExecutionChange, version: number, nowMs: number): ExecutionFacts {
  const { execution, status, seq, error, stoppedBy, deadlineInMs } = change
  return {
    ...execution,
    status,
    seq,
    version,
    failing: execution.failing || error !== null,
    stoppedBy,
    deadlineMs: deadlineInMs === null ? execution.deadlineMs : nowMs + deadlineInMs,
    nodes: execution.nodes.map((before, ordinal) => {
      const changed = change.nodes.get(ordinal)
      if (!changed) return before
      const { state, attempt, deaths, lease, instance, call, reservation, ports } = changed
      return { state, attempt, deaths, lease, instance, call, reservation, ports: state === 'Succeeded' ? ports : [] }
    }),
  }
}
