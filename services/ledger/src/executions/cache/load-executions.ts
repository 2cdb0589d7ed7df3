import { LRUCache } from 'lru-cache'
import type { Sql } from '@gateway/database/client'
import type { ClaimItem } from '@gateway/ledger-protocol/flow-items'
import { type PlanNode, planOf } from '@gateway/flow/plan'
import type { Deps, PackageCache, PackageName } from '../../deps.ts'
import { type NodeItem, takerOf } from '../nodes/node-item.ts'
import {
  type ExecutionsReading,
  readExecutions,
  type BegunExecution,
  type ExecutionChange,
  type ExecutionFacts,
  hasEnded,
} from '../store/read-executions.ts'
import type { FlowPackage } from '@gateway/api/graph'
import { compileContract } from '@gateway/flow/contract'
import { WrongRow } from '../../admissions/classify-error.ts'
import type { Flow } from './flow.ts'

export interface LoadedExecutions extends ExecutionsReading {
  /** Executions taken from the cache: they may have changed since (M1). */
  fromCache: ReadonlySet<string>
  /** Instances that were alive at their last lookup and were not looked up again. */
  assumedAlive: ReadonlySet<string>
}

export interface ExecutionLoader {
  /** Loads the executions of these items from the cache; those not cached, and those in `toRead`, from the database. */
  load(sql: Sql, items: readonly NodeItem[], toRead: ReadonlySet<string>): Promise<LoadedExecutions>
  /** Caches an execution that this replica has just started, so that it need not be read (M1). */
  introduce(begun: BegunExecution): void
  /** Forgets which instances were alive, because some may have ended. */
  forgetInstances(): void
}

/** Instances are few: one for each worker process. */
const MAX_INSTANCES = 10_000

export function openExecutionLoader(deps: Pick<Deps, 'packageCache' | 'now'>, cache: ExecutionCache): ExecutionLoader {
  const seenAlive = new LRUCache<string, true>({ max: MAX_INSTANCES })
  /** The database's clock minus this process's clock. */
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

  /** Returns the outputs of the sources of these claims; null: the snapshot lacks some of them. */
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
      if (aheadMs === null) return // nothing was read yet, so the database's clock is unknown
      cache.setRead({ ...facts, deadlineMs: Math.floor(deps.now() + aheadMs) + deadlineInMs }, outputs)
    },
    forgetInstances: () => seenAlive.clear(),
  }
}

const isClaim = (item: NodeItem): item is ClaimItem => item.op === 'claim'

/** Items of maintenance are decided from the database, never from the cache. */
const isFromWorker = ({ op }: NodeItem): boolean => op === 'claim' || op === 'complete'

/** Returns the ordinals of the nodes that its inputs read from. */
export function sourcesIn(node: PlanNode | undefined): number[] {
  return [...new Set(node?.inputs.flatMap(({ sources }) => sources.map(({ ordinal }) => ordinal)))]
}

// Caches the last state of open executions that this replica read, wrote or started, so that the next batch need not
// read them: optimistic concurrency by `version`.
//   M1  A snapshot may be stale. A decision made from it counts only once it is written, and the version check allows
//       that only if nothing has changed (F1 of write_executions). Decisions that write nothing are made from a read.
//   M2  If another replica works on the same executions, snapshots are often stale, and each stale one costs a wasted
//       write. An execution whose snapshot was stale once is always read from then on; if many are stale, the cache is
//       not used for a while.
//   M3  A snapshot is dropped when its execution has ended, and whenever the result of a write is unknown.

export interface Snapshot {
  execution: ExecutionFacts
  /** Known outputs of ended nodes: JSON text by ordinal. */
  outputs: Map<number, string>
}

export interface ExecutionCache {
  get(execution: string): Snapshot | null
  /** Returns the known outputs of its nodes: JSON text by ordinal. An output never changes. */
  outputsOf(execution: string): ReadonlyMap<number, string>
  /** Caches an execution as read, with the outputs that were read. */
  setRead(execution: ExecutionFacts, outputs: ReadonlyMap<number, string>): void
  /** Caches an execution as written. */
  setWritten(change: ExecutionChange, version: number, nowMs: number): void
  delete(execution: string): void
  /** Records whether a snapshot was current (M2). */
  judge(execution: string, wasCurrent: boolean): void
}

interface Limits {
  maxExecutions: number
  /** Total length of the cached outputs. */
  maxCharacters: number
}

/** M2: if more than `old` of `snapshots` are stale, the next `pausedLookups` lookups return nothing. */
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

/** Returns the execution as a read would return it after this change. */
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

/** Caches packages by digest, which identifies one forever. Keeps `maxBytes` of JSON text, most recently used first. */
export function openPackageCache(deps: Pick<Deps, 'reads'>, { maxBytes }: { maxBytes: number }): PackageCache {
  const flows = new LRUCache<string, Flow, PackageName>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
    fetchMethod: (_name, _old, { context }) => readFlow(deps, context),
    ignoreFetchAbort: true, // a package that is evicted while it is read is still returned
  })
  return {
    get({ sandbox, revision, digest }) {
      return flows.forceFetch(`${sandbox} ${revision} ${digest}`, { context: { sandbox, revision, digest } })
    },
  }
}

async function readFlow({ reads }: Pick<Deps, 'reads'>, { sandbox, revision, digest }: PackageName): Promise<Flow> {
  const [row] = await reads.prisma.$queryRaw<{ package: Uint8Array }[]>`
    SELECT package FROM money.flow_packages
     WHERE sandbox = ${sandbox} AND revision = ${revision}::int AND (digest = ${digest}::text OR ${digest}::text IS NULL)
     ORDER BY built_at NULLS FIRST LIMIT 1`
  if (!row) throw new WrongRow(`revision ${revision} of ${sandbox} has no package ${digest}`)
  const flow = JSON.parse(Buffer.from(row.package).toString()) as FlowPackage
  return {
    plan: planOf(flow),
    package: flow,
    checkInput: compileContract(flow.input),
    outputContract: JSON.stringify(flow.output),
    bytes: row.package.length,
  }
}
