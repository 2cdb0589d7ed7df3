import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { BenchDeps } from '../bench.ts'
import { CONNECTIONS } from '../chat-path/call-paths.ts'
import { callOf, type Path } from '../chat-path/paths.ts'
import { findWrk } from '../chat-path/wrk.ts'
import { median, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { inTurns } from '../load/rounds.ts'
import { describeRun } from '../report/machine.ts'
import { cells, ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { processorTimesMs } from '../stack/processor-time.ts'
import type { Stops } from '../stack/stops.ts'

// The chat call of `chat-path` through the stacks of two checkouts, which run at the same time and are called in turns.
// One run after the other would measure what else the machine does: Portkey's figures alone differ by a third between runs.

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const WARM_UP_MS = 3_000
const WANTED = 0.97
const SIDES = ['before', 'now'] as const
type Side = (typeof SIDES)[number]

type WorkingFigures = Figures & { workMs: number }

export async function turns({ options: { rounds, roundMs, before }, stops, log }: BenchDeps): Promise<string> {
  const wrk = await findWrk(path.join(projectFolder, 'bench/.peers/wrk'), log)
  log('Starting both stacks')
  const paths: Record<Side, Path> = {
    before: await startOther(path.resolve(before!), stops),
    now: await startOther(projectFolder, stops),
  }
  const name = (side: Side, connections: number) => `${side}, ${connections}`

  async function measure(side: Side, connections: number, lastsMs: number): Promise<WorkingFigures> {
    const { pids } = paths[side]
    const startMs = sum(processorTimesMs(pids))
    const sample = await wrk({ ...callOf(paths[side]), connections, lastsMs })
    return { ...sample, workMs: (sum(processorTimesMs(pids)) - startMs) / sample.calls }
  }

  const measured = (await inTurns({
    rounds,
    variants: CONNECTIONS.flatMap((connections) =>
      SIDES.map((side) => ({
        name: name(side, connections),
        warmUp: () => measure(side, connections, WARM_UP_MS),
        measure: () => measure(side, connections, roundMs),
      })),
    ),
    log,
  })) as Map<string, WorkingFigures[]>

  const of = (side: Side, connections: number) => measured.get(name(side, connections))!
  const workOf = (side: Side, connections: number) => median(of(side, connections).map(({ workMs }) => workMs))
  const rows = CONNECTIONS.flatMap((connections) =>
    SIDES.map((side) => [
      name(side, connections),
      ...cells(medianFigures(of(side, connections))),
      ms(workOf(side, connections)),
    ]),
  )
  const targets = CONNECTIONS.map((connections) => ({
    what: `calls a second to those before, ${connections} connections`,
    wanted: WANTED,
    found: ratio(of('now', connections), of('before', connections)),
    better: 'more' as const,
    say: times,
  }))
  return [
    await describeRun(new Date()),
    table(['checkout, connections', '/s', 'p50', 'p99', 'processor time of a call'], rows),
    formatTargets(targets),
  ].join('\n\n')
}

/** Runs `stack-main.ts` of a checkout. */
async function startOther(folder: string, stops: Stops): Promise<Path> {
  const entry = path.join(folder, 'bench/src/turns/stack-main.ts')
  const child = spawn(process.execPath, [entry], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const ended = once(child, 'exit')
  stops.add(async () => {
    child.stdin.end()
    await ended
  })
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => Promise.reject(new Error(`The stack of ${folder} did not start.`))),
  ])
  return JSON.parse(line as string) as Path
}

const sum = (values: Record<string, number>) => Object.values(values).reduce((one, other) => one + other, 0)
