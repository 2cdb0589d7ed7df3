import { median, type Figures } from '../load/figures.ts'
import { ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'

/** One round under overload; calls per second. */
export interface Round {
  offered: number
  admitted: number
  refused: number
  p50Ms: number
  p99Ms: number
  residentMiB: number
}

interface Soak {
  unloaded: Figures
  /** Calls per second that the stack can sustain. */
  capacity: number
  overloaded: Round[]
  setting: { places: number; latencyMs: number; projects: number; timesTooMuch: number }
  run: string
}

const WANTED = { p99Times: 2, memoryTimes: 1.1, offeredTimes: 0.95 }

export function reportSoak({ unloaded, capacity, overloaded, setting, run }: Soak): string {
  const rows = overloaded.map(({ offered, admitted, refused, p50Ms, p99Ms, residentMiB }, n) => [
    `round ${n + 1}`,
    ...[offered, admitted, refused].map((calls) => Math.round(calls).toLocaleString('en-US')),
    ms(p50Ms),
    ms(p99Ms),
    `${Math.round(residentMiB)} MiB`,
  ])
  const alone = ['alone', '', Math.round(unloaded.perSecond).toLocaleString('en-US'), '0', ms(unloaded.p50Ms)]
  // The heap settles in the first third; what counts is whether it grows after that.
  const third = Math.ceil(overloaded.length / 3)
  const most = (part: Round[]) => Math.max(...part.map(({ residentMiB }) => residentMiB))
  return `${run}

A gateway with ${setting.places} places, ${setting.projects} projects, a model that takes ${setting.latencyMs} ms: it can take ${Math.round(capacity)} calls a second, and
is offered ${setting.timesTooMuch} times as many. Every refusal was a 503 with Retry-After; exactly the calls that were answered were charged.

${table(
  ['', 'offered/s', 'admitted/s', 'refused/s', 'p50', 'p99', 'resident'],
  [[...alone, ms(unloaded.p99Ms), ''], ...rows],
)}

${formatTargets([
  {
    what: 'p99 of the admitted against alone',
    wanted: WANTED.p99Times,
    found: median(overloaded.map(({ p99Ms }) => p99Ms)) / unloaded.p99Ms,
    better: 'less',
    say: times,
  },
  {
    what: 'resident memory of the gateway, last third against first',
    wanted: WANTED.memoryTimes,
    found: most(overloaded.slice(-third)) / most(overloaded.slice(0, third)),
    better: 'less',
    say: times,
  },
  {
    what: 'offered against what was meant to be',
    wanted: WANTED.offeredTimes,
    found: median(overloaded.map(({ offered }) => offered)) / (capacity * setting.timesTooMuch),
    better: 'more',
    say: times,
  },
])}
`
}
