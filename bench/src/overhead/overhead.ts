import { controlClient } from '@gateway/simulated-provider/control'
import type { BenchDeps } from '../bench.ts'
import { PATHS, startPaths, titles, type Path, type PathName } from '../chat-path/paths.ts'
import { openLoop } from '../load/open-loop.ts'
import { median, percentile } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table, times } from '../report/table.ts'
import { formatTargets, type Target } from '../report/targets.ts'
import { processorTimesMs } from '../stack/processor-time.ts'
import { bodyOf, openCaller, type Called, type CallShape } from './call.ts'

// What a call costs more than at the provider alone, at fixed rates, as users meet it: an open loop that does not wait
// for answers, and times that count from when a call was due. Next to it a bare proxy and a gateway without a ledger, in
// turns.

const PROVIDER_MS = 60
const CONNECTIONS = 1_024
const WARM_UP = { rate: 100, lastsMs: 4_000 }

type Quantile = 'p50' | 'p95' | 'p99'

interface Case extends CallShape {
  name: string
  rate: number
  paths: readonly PathName[]
  /** At most this many times what Portkey adds, or the proxy where Portkey fails. */
  wanted: Partial<Record<Quantile, number>>
}

/** Portkey 1.15.2 answers every stream with 500 (`TypeError: immutable`). */
const streaming: PathName[] = ['provider', 'proxy', 'stack']
const json = { stream: false, bytes: 100, maxTokens: 50 }
const cases: Case[] = [
  { ...json, name: 'JSON, 50/s', rate: 50, paths: PATHS, wanted: { p50: 1.7, p99: 1.3 } },
  { ...json, name: 'JSON, 200/s', rate: 200, paths: PATHS, wanted: { p50: 1.7, p99: 1.3 } },
  { ...json, name: 'JSON, 400/s', rate: 400, paths: PATHS, wanted: { p50: 2.5, p99: 1.3 } },
  { ...json, name: 'JSON, 500/s', rate: 500, paths: PATHS, wanted: {} }, // 1,000/s is more than two cores can load and serve
  { ...json, name: 'JSON of 100 KB, 50/s', bytes: 100_000, rate: 50, paths: PATHS, wanted: { p50: 1, p99: 1 } },
  {
    ...json,
    name: 'streams to the first byte, 200/s',
    stream: true,
    rate: 200,
    paths: streaming,
    wanted: { p50: 2.5 },
  },
]

/** Of one path in one round. */
interface Measured {
  p50: number
  p95: number
  p99: number
  /** Processor time of a call, in milliseconds. */
  work: Record<string, number>
}

type Rounds = Record<PathName, Measured[]>

export async function overhead({ options: { rounds, roundMs }, stops, log }: BenchDeps): Promise<string> {
  const { stack, paths } = await startPaths({ stops, log, profile: null })
  const caller = openCaller(CONNECTIONS)
  stops.add(caller.close)
  await controlClient(stack.provider.url).setFaults([{ latencyMs: PROVIDER_MS }])

  async function measure(to: Path, shape: CallShape, rate: number, lastsMs: number): Promise<Measured> {
    const body = bodyOf(to, shape)
    const before = processorTimesMs(to.pids)
    const called = await openLoop({ rate, lastsMs, call: (dueMs) => caller.call(to, body, dueMs) })
    const after = processorTimesMs(to.pids)
    const of = ({ firstByteMs, totalMs }: Called) => (shape.stream ? firstByteMs : totalMs)
    const ascending = Float64Array.from(called.map(of)).toSorted()
    return {
      p50: percentile(ascending, 50),
      p95: percentile(ascending, 95),
      p99: percentile(ascending, 99),
      work: Object.fromEntries(
        Object.keys(after).map((name) => [name, (after[name]! - before[name]!) / called.length]),
      ),
    }
  }

  log('Warming up')
  for (const name of PATHS) await measure(paths[name], json, WARM_UP.rate, WARM_UP.lastsMs)
  for (const name of streaming) await measure(paths[name], { ...json, stream: true }, WARM_UP.rate, WARM_UP.lastsMs)

  const found = new Map<Case, Rounds>()
  for (let round = 1; round <= rounds; round++)
    for (const one of cases) {
      log(`round ${round} of ${rounds}: ${one.name}`)
      const of = found.get(one) ?? { provider: [], proxy: [], floor: [], portkey: [], stack: [] }
      found.set(one, of)
      for (const name of round % 2 === 1 ? one.paths : one.paths.toReversed())
        of[name].push(await measure(paths[name], one, one.rate, roundMs))
    }
  return report(found, await describeRun(new Date()))
}

/** The median over the rounds of what a path adds to the provider in the same round. */
function added(rounds: Rounds, name: PathName, quantile: Quantile): number {
  return median(rounds[name].map((one, n) => one[quantile] - rounds.provider[n]![quantile]))
}

function report(found: Map<Case, Rounds>, run: string): string {
  const rows = [...found].flatMap(([{ name, paths }, rounds]) =>
    paths.slice(1).map((to) => {
      const work = (part: string) => median(rounds[to].map((one) => one.work[part] ?? 0))
      const parts = ['gateway', 'ledger', 'postgres'].map(work)
      const sum = parts.reduce((total, part) => total + part, 0)
      return [
        `${name}: ${titles[to]}`,
        ...(['p50', 'p95', 'p99'] as const).map((quantile) => ms(added(rounds, to, quantile))),
        ...[...parts, sum].map((part) => (part === 0 ? '' : ms(part))),
      ]
    }),
  )
  const targets = [...found].flatMap(([{ name, paths, wanted: limits }, rounds]) => {
    const peer = paths.includes('portkey') ? 'portkey' : 'proxy'
    return Object.entries(limits).map(([quantile, wanted]): Target => ({
      what: `${name}: added ${quantile} to that of ${peer === 'portkey' ? 'Portkey' : 'the proxy'}`,
      wanted,
      // A peer that seems to add nothing is noise, and the target is missed.
      found: added(rounds, 'stack', quantile as Quantile) / Math.max(0, added(rounds, peer, quantile as Quantile)),
      better: 'less',
      say: times,
    }))
  })
  return `${run}

The provider answers after ${PROVIDER_MS} ms. Added latency is the path's quantile minus the provider's in the same round.

${table(['added to the provider alone', '+p50', '+p95', '+p99', 'gateway', 'ledger', 'Postgres', 'processors together'], rows)}

${formatTargets(targets)}
`
}
