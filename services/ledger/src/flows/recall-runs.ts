import type { Database } from '@gateway/database/client'
import type { ClaimItem } from '@gateway/contracts/flow-items'
import type { FlowItem } from './flow-item.ts'
import type { Flows } from './flows.ts'
import { readRuns, type RunsReading } from './read-runs.ts'
import type { RunFacts } from './run-facts.ts'
import type { RunMemory } from './run-memory.ts'

export interface RunsRecollection extends RunsReading {
  /** Runs that were not read: what is known of them is a guess (M1 of run-memory.ts). */
  guessed: Set<string>
  /** Holders that are taken to live and were not looked up. */
  presumed: Set<string>
}

interface Needs {
  memory: RunMemory
  flows: Flows
  /** Monotonic milliseconds. */
  now: () => number
}

export interface RunReader {
  /** Answers what is known of the runs of these items. Reads what is not remembered, and the runs `toRead` in any case. */
  know(
    prisma: Pick<Database['prisma'], '$queryRawUnsafe'>,
    items: readonly FlowItem[],
    toRead: ReadonlySet<string>,
  ): Promise<RunsRecollection>
  /** Some of the holders that were presumed to live may not. */
  doubtHolders(): void
}

/** Holders are few: one for each worker process. */
const MOST_HOLDERS = 10_000

export function openRunReader({ memory, flows, now }: Needs): RunReader {
  const seenAlive = new Set<string>()
  /** The database's clock less that of this process. */
  let aheadMs: number | null = null

  return {
    async know(prisma, items, toRead) {
      const guessed = new Map<string, RunFacts>()
      const sourcesOf: RunsReading['sourcesOf'] = new Map()
      for (const [execution, of] of Map.groupBy(items, (item) => item.execution)) {
        if (toRead.has(execution) || !of.every(isOfWorker)) continue
        const remembered = memory.recall(execution)
        if (remembered === null) continue
        const { plan } = await flows.of(remembered.run.sandbox, remembered.run.revision)
        const claims = of.filter((item) => item.op === 'claim')
        const sources = claims.map((claim) => {
          const ordinal = plan.nodes.findIndex(({ id }) => id === claim.node)
          const ended = sourcesIn(plan.nodes[ordinal]).filter((one) => remembered.run.nodes[one]?.state === 'Succeeded')
          return ended.every((one) => remembered.outputs.has(one))
            ? new Map(ended.map((one) => [one, remembered.outputs.get(one)!]))
            : null
        })
        if (sources.includes(null)) continue
        claims.forEach((claim, n) => sourcesOf.set(claim, sources[n]!))
        guessed.set(execution, remembered.run)
      }
      const left = items.filter(({ execution }) => !guessed.has(execution))
      const claims = items.filter((item): item is ClaimItem => item.op === 'claim')
      const presumed = new Set(
        claims.flatMap(({ execution, holder }) => (guessed.has(execution) && seenAlive.has(holder) ? [holder] : [])),
      )
      const strangers = claims.flatMap(({ holder }) => (presumed.has(holder) ? [] : [holder]))
      if (left.length === 0 && strangers.length === 0 && aheadMs !== null)
        return {
          runs: guessed,
          guessed: new Set(guessed.keys()),
          living: presumed,
          presumed,
          sourcesOf,
          nowMs: Math.floor(now() + aheadMs),
        }
      const reading = await readRuns(prisma, left, strangers)
      aheadMs = reading.nowMs - now()
      if (seenAlive.size > MOST_HOLDERS) seenAlive.clear()
      for (const holder of reading.living) seenAlive.add(holder)
      for (const [id, run] of reading.runs) {
        const outputs = left.flatMap((item) => (item.execution === id ? [...(reading.sourcesOf.get(item) ?? [])] : []))
        memory.read(run, new Map(outputs))
      }
      return {
        runs: new Map([...guessed, ...reading.runs]),
        guessed: new Set(guessed.keys()),
        living: new Set([...presumed, ...reading.living]),
        presumed,
        sourcesOf: new Map([...sourcesOf, ...reading.sourcesOf]),
        nowMs: reading.nowMs,
      }
    },
    doubtHolders: () => seenAlive.clear(),
  }
}

/** What keepers find is looked after on record. */
function isOfWorker({ op }: FlowItem): boolean {
  return op === 'claim' || op === 'complete'
}

function sourcesIn(node: { inputs: readonly { sources: readonly { ordinal: number }[] }[] } | undefined): number[] {
  return [...new Set(node?.inputs.flatMap(({ sources }) => sources.map(({ ordinal }) => ordinal)))]
}
