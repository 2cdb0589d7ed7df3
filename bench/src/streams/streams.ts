import { controlClient } from '@gateway/simulated-provider/control'
import type { BenchDeps } from '../bench.ts'
import { startPaths, titles, type Path } from '../chat-path/paths.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { median } from '../load/figures.ts'
import { openLoop } from '../load/open-loop.ts'
import { bodyOf, openCaller } from '../overhead/call.ts'
import { describeRun } from '../report/machine.ts'
import { table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { processorTimesMs } from '../stack/processor-time.ts'

// What a chunk of a stream costs, next to a bare pipe: as fast as the provider writes, where many chunks come in one
// packet, and at the pace of a model, where each comes alone. (Portkey 1.15.2 answers every stream with 500.)

const NAMES = ['proxy', 'stack'] as const
type Name = (typeof NAMES)[number]
const FAST = { streams: 32, chunks: 400 }
/** Begun evenly over `overMs`; all are under way together for a second and more. */
const PACED = { streams: 1_000, chunks: 120, perChunkMs: 33, overMs: 2_500 }
const WANTED_TIMES = 2

interface Measured {
  streams: number
  chunks: number
  /** From the start of the first stream to the end of the last. */
  tookMs: number
  /** Processor time of each part, in milliseconds. */
  work: Record<string, number>
}
type Found = Record<Name, Measured[]>

export async function streams({ options: { rounds, roundMs, profile }, stops, log }: BenchDeps): Promise<string> {
  const { stack, paths } = await startPaths({ stops, log, profile })
  const caller = openCaller(PACED.streams)
  stops.add(caller.close)

  async function measure(to: Path, run: (call: () => Promise<void>) => Promise<unknown>): Promise<Measured> {
    const body = bodyOf(to, { stream: true, bytes: 100, maxTokens: 2_000 })
    const found: Measured = { streams: 0, chunks: 0, tookMs: 0, work: {} }
    const before = processorTimesMs(to.pids)
    const startMs = performance.now()
    await run(async () => {
      const { chunks } = await caller.call(to, body, performance.now())
      found.streams++
      found.chunks += chunks
    })
    found.tookMs = performance.now() - startMs
    for (const [part, ms] of Object.entries(processorTimesMs(to.pids))) found.work[part] = ms - before[part]!
    return found
  }
  const fast = (lastsMs: number) => (call: () => Promise<void>) =>
    closedLoop({ clients: FAST.streams, lastsMs, call, now: () => performance.now() })
  const paced = (call: () => Promise<void>) =>
    openLoop({ rate: (PACED.streams * 1_000) / PACED.overMs, lastsMs: PACED.overMs, call })

  const found: Record<'fast' | 'paced', Found> = { fast: { proxy: [], stack: [] }, paced: { proxy: [], stack: [] } }
  const { setFaults } = controlClient(stack.provider.url)
  await setFaults([answerOf(FAST)])
  log('Warming up')
  for (const name of NAMES) await measure(paths[name], fast(2 * roundMs))
  for (let round = 1; round <= rounds; round++) {
    log(`round ${round} of ${rounds}: ${FAST.streams} streams at once, as fast as they come`)
    for (const name of inTurn(round)) found.fast[name].push(await measure(paths[name], fast(roundMs)))
  }
  await setFaults([answerOf(PACED)])
  for (let round = 1; round <= rounds; round++) {
    log(`round ${round} of ${rounds}: ${PACED.streams} streams at once, a chunk each ${PACED.perChunkMs} ms`)
    for (const name of inTurn(round)) found.paced[name].push(await measure(paths[name], paced))
  }
  return report(found, await describeRun(new Date()))
}

function inTurn(round: number): Name[] {
  return round % 2 === 1 ? [...NAMES] : NAMES.toReversed()
}

/** A text of this many words, a chunk each. */
function answerOf({ chunks, perChunkMs }: { chunks: number; perChunkMs?: number }): {
  text: string
  perChunkMs?: number
} {
  const text = Array.from({ length: chunks }, (_, n) => `word${n}`).join(' ')
  return { text, ...(perChunkMs !== undefined && { perChunkMs }) }
}

/** Processor time of a part for each chunk, in microseconds. */
function perChunk({ work, chunks }: Measured, part: string): number {
  return ((work[part] ?? 0) * 1_000) / chunks
}

function report(found: Record<'fast' | 'paced', Found>, run: string): string {
  const us = (value: number) => `${value.toFixed(2)} µs`
  const kinds = [
    ['fast', `${FAST.streams} streams of ${FAST.chunks} chunks at once, as fast as they come`],
    ['paced', `${PACED.streams} streams at once, a chunk each ${PACED.perChunkMs} ms`],
  ] as const
  const ratio = (kind: 'fast' | 'paced') =>
    median(
      found[kind].stack.map((one, round) => perChunk(one, 'gateway') / perChunk(found[kind].proxy[round]!, 'gateway')),
    )
  const rows = kinds.flatMap(([kind, title]) =>
    NAMES.map((name) => {
      const of = (figure: (one: Measured) => number) => median(found[kind][name].map(figure))
      return [
        `${title}: ${titles[name]}`,
        us(of((one) => perChunk(one, 'gateway'))),
        ...['ledger', 'postgres'].map((part) => (name === 'stack' ? us(of((one) => perChunk(one, part))) : '')),
        us(of((one) => (one.work['gateway']! * 1_000) / one.streams)),
        `${(of((one) => one.tookMs) / 1_000).toFixed(1)} s`,
        String(of((one) => one.streams)),
      ]
    }),
  )
  const targets = kinds.map(([kind, title]) => ({
    what: `processor time of the gateway for a chunk to that of the bare pipe: ${title}`,
    wanted: WANTED_TIMES,
    found: ratio(kind),
    better: 'less' as const,
    say: times,
  }))
  return `${run}

Processor time for each chunk includes its share of the stream's beginning and end.

${table(['streams', 'gateway, a chunk', 'ledger', 'Postgres', 'gateway, a stream', 'took', 'streams'], rows)}

${formatTargets(targets)}
`
}
