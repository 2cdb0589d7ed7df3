import { costMicro } from '@gateway/pricing/price'
import { processorTimesMs } from '../stack/processor-time.ts'
import type { Variant } from '../load/rounds.ts'
import { callOf, PATHS, pathsTo, type PathName } from './paths.ts'
import type { PricedTenant } from './tenant.ts'
import type { Stack } from './start-stack.ts'
import type { Peers } from './start-peers.ts'
import type { Wrk } from './wrk.ts'

const WARM_UP_MS = 3_000
export const CONNECTIONS = [1, 32, 128]

export const variantName = (callPath: PathName, connections: number) =>
  `${callPath}, ${connections} connection${connections === 1 ? '' : 's'}`

interface Deps {
  stack: Stack
  tenant: PricedTenant
  peers: Peers
  wrk: Wrk
  lastsMs: number
}

/** Processor time of a call in each process on its path, in milliseconds, by variant. */
export type Work = Map<string, Record<string, number>>

/** Calls that the stack has completed: those counted by the load, and at most this many that the load aborted. */
export interface Answered {
  counted: number
  cutAtMost: number
}

/** The paths to the same provider. */
export function openCallPaths({ stack, tenant, peers, wrk, lastsMs }: Deps) {
  const paths = pathsTo(stack, tenant, peers)
  const answered: Answered = { counted: 0, cutAtMost: 0 }
  const work = new Map<string, { calls: number; ms: Record<string, number> }>()

  /** Nothing of it is measured, but its charges count. */
  async function warmUp(name: PathName, connections: number) {
    const { calls } = await wrk({ ...callOf(paths[name]), connections, lastsMs: WARM_UP_MS })
    noteAnswered(name, calls, connections)
  }

  function noteAnswered(name: PathName, calls: number, connections: number): void {
    if (name !== 'stack') return
    answered.counted += calls
    answered.cutAtMost += connections
  }

  async function measure(name: PathName, connections: number) {
    const before = processorTimesMs(paths[name].pids)
    const sample = await wrk({ ...callOf(paths[name]), connections, lastsMs })
    noteWork(variantName(name, connections), sample.calls, before, processorTimesMs(paths[name].pids))
    noteAnswered(name, sample.calls, connections)
    return sample
  }

  function noteWork(
    variant: string,
    calls: number,
    before: Record<string, number>,
    after: Record<string, number>,
  ): void {
    const sum = work.get(variant) ?? { calls: 0, ms: {} }
    sum.calls += calls
    for (const name of Object.keys(after)) sum.ms[name] = (sum.ms[name] ?? 0) + after[name]! - before[name]!
    work.set(variant, sum)
  }

  return {
    /**
     * Calls once on each path and returns the expected charge of this call, in micro-USD. Throws if a response differs
     * from that of the provider.
     */
    async tryEach(): Promise<bigint> {
      const said: string[] = []
      let charge = 0n
      for (const name of PATHS) {
        const { url, headers, body } = callOf(paths[name])
        const answer = await fetch(url, { method: 'POST', headers, body })
        const text = await answer.text()
        if (answer.status !== 200) throw new Error(`${name} answers ${answer.status}: ${text}`)
        const { choices, usage } = JSON.parse(text) as ChatBody
        said.push(choices[0].message.content)
        charge = costMicro({ ...tenant, requestPico: 0n }, BigInt(usage.prompt_tokens), BigInt(usage.completion_tokens))
      }
      if (new Set(said).size > 1) throw new Error(`The paths don't lead to the same answer: ${JSON.stringify(said)}`)
      answered.counted++
      return charge
    },
    variants: (connections: number[]): Variant[] =>
      connections.flatMap((count) =>
        PATHS.map((callPath) => ({
          name: variantName(callPath, count),
          warmUp: () => warmUp(callPath, count),
          measure: () => measure(callPath, count),
        })),
      ),
    answered: (): Answered => answered,
    work: (): Work =>
      new Map(
        [...work].map(([variant, { calls, ms }]) => [
          variant,
          Object.fromEntries(Object.entries(ms).map(([name, all]) => [name, all / calls])),
        ]),
      ),
  }
}

interface ChatBody {
  choices: [{ message: { content: string } }]
  usage: { prompt_tokens: number; completion_tokens: number }
}
