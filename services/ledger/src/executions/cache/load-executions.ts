import type { Database } from '@gateway/database/client'
import type { ClaimItem } from '@gateway/contracts/flow-items'
import type { FlowItem } from '../nodes/node-item.ts'
import type { Flows } from './package-cache.ts'
import { readExecutions, type ExecutionsReading } from '../store/read-executions.ts'
import type { ExecutionFacts } from '../store/execution-facts.ts'
import type { ExecutionMemory } from './execution-cache.ts'

export interface ExecutionsRecollection extends ExecutionsReading {
  /** Runs that were not read: what is known of them is a guess (M1 of run-memory.ts). */
  guessed: Set<string>
  /** Instances that are taken to live and were not looked up. */
  presumed: Set<string>
}

interface Deps {
  memory: ExecutionMemory
  flows: Flows
  /** Monotonic milliseconds. */
  now: () => number
}

export interface ExecutionReader {
  /** Answers what is known of the runs of these items. Reads what is not remembered, and the runs `toRead` in any case. */
  know(
    prisma: Pick<Database['prisma'], '$queryRawUnsafe'>,
    items: readonly FlowItem[],
    toRead: ReadonlySet<string>,
  ): Promise<ExecutionsRecollection>
  /** Some of the instances that were presumed to live may not. */
  doubtInstances(): void
}

/** Instances are few: one for each worker process. */
const MOST_INSTANCES = 10_000

export function openExecutionReader({ memory, flows, now }: Deps): ExecutionReader {
  const seenAlive = new Set<string>()
  /** The database's clock less that of this process. */
  let aheadMs: number | null = null

  return {
    async know(prisma, items, toRead) {
      const guessed = new Map<string, ExecutionFacts>()
      const sourcesOf: ExecutionsReading['sourcesOf'] = new Map()
      for (const [execution, of] of Map.groupBy(items, (item) => item.execution)) {
        if (toRead.has(execution) || !of.every(isOfWorker)) continue
        const remembered = memory.recall(execution)
        if (remembered === null) continue
        const { plan } = await flows.of(remembered.execution.sandbox, remembered.execution.revision)
        const claims = of.filter((item) => item.op === 'claim')
        const sources = claims.map((claim) => {
          const ordinal = plan.nodes.findIndex(({ id }) => id === claim.node)
          const ended = sourcesIn(plan.nodes[ordinal]).filter(
            (one) => remembered.execution.nodes[one]?.state === 'Succeeded',
          )
          return ended.every((one) => remembered.outputs.has(one))
            ? new Map(ended.map((one) => [one, remembered.outputs.get(one)!]))
            : null
        })
        if (sources.includes(null)) continue
        claims.forEach((claim, n) => sourcesOf.set(claim, sources[n]!))
        guessed.set(execution, remembered.execution)
      }
      const left = items.filter(({ execution }) => !guessed.has(execution))
      const claims = items.filter((item): item is ClaimItem => item.op === 'claim')
      const presumed = new Set(
        claims.flatMap(({ execution, instance }) =>
          guessed.has(execution) && seenAlive.has(instance) ? [instance] : [],
        ),
      )
      const strangers = claims.flatMap(({ instance }) => (presumed.has(instance) ? [] : [instance]))
      if (left.length === 0 && strangers.length === 0 && aheadMs !== null)
        return {
          executions: guessed,
          guessed: new Set(guessed.keys()),
          living: presumed,
          presumed,
          sourcesOf,
          nowMs: Math.floor(now() + aheadMs),
        }
      const reading = await readExecutions(prisma, left, strangers)
      aheadMs = reading.nowMs - now()
      if (seenAlive.size > MOST_INSTANCES) seenAlive.clear()
      for (const instance of reading.living) seenAlive.add(instance)
      for (const [id, execution] of reading.executions) {
        const outputs = left.flatMap((item) => (item.execution === id ? [...(reading.sourcesOf.get(item) ?? [])] : []))
        memory.read(execution, new Map(outputs))
      }
      return {
        executions: new Map([...guessed, ...reading.executions]),
        guessed: new Set(guessed.keys()),
        living: new Set([...presumed, ...reading.living]),
        presumed,
        sourcesOf: new Map([...sourcesOf, ...reading.sourcesOf]),
        nowMs: reading.nowMs,
      }
    },
    doubtInstances: () => seenAlive.clear(),
  }
}

/** What maintenance jobs find is looked after on record. */
function isOfWorker({ op }: FlowItem): boolean {
  return op === 'claim' || op === 'complete'
}

function sourcesIn(node: { inputs: readonly { sources: readonly { ordinal: number }[] }[] } | undefined): number[] {
  return [...new Set(node?.inputs.flatMap(({ sources }) => sources.map(({ ordinal }) => ordinal)))]
}
