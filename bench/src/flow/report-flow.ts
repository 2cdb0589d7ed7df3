import { availableParallelism } from 'node:os'
import { median, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { cells, table, times } from '../report/table.ts'
import { sayTargets } from '../report/targets.ts'

/** Cores in use while many executions go on. */
export interface Share {
  postgres: number
  ledger: number
  workers: number
  gateway: number
  redis: number
  /** Whoever asks: this process. */
  load: number
}

interface Flow {
  measured: Map<string, Figures[]>
  names: { dbos: string; few: (workers: number) => string; many: (workers: number) => string }
  workers: number[]
  /** How many workers are compared with as many processes of DBOS. */
  compared: number
  setting: { nodes: number; jobs: number; few: number; many: number }
  /** By number of workers. */
  shares: Map<number, Share[]>
  run: string
}

const WANTED = { p50Ms: 50, p99Ms: 150, toDbos: 2 }

export function reportFlow({ measured, names, workers, compared, setting, shares, run }: Flow): string {
  const of = (name: string) => measured.get(name)!
  const rows = [names.dbos, ...workers.flatMap((count) => [names.few(count), names.many(count)])].map((name) => {
    const figures = medianFigures(of(name))
    return [name, ...cells(figures).map((cell) => (cell.includes('NaN') ? '' : cell))]
  })
  const few = medianFigures(of(names.few(compared)))
  const share = (count: number, part: keyof Share) => median((shares.get(count) ?? []).map((one) => one[part]))
  const parts = ['gateway', 'ledger', 'workers', 'postgres', 'redis', 'load'] as const
  const used = (count: number) => parts.reduce((sum, part) => sum + share(count, part), 0)
  const say = (value: number) => `${value.toFixed(0)} ms`
  return `${run}

A linear flow of ${setting.nodes} free nodes, ${setting.jobs} of them jobs (\`input\` has nothing to run), through gateway, ledger, queue and separate worker
processes, durable at every node; DBOS runs ${setting.jobs} steps in the process that asked for them.

${table(['', 'nodes/s', 'p50 of an execution', 'p99 of an execution'], rows)}

${table(
  [`cores in use, ${setting.many} executions at once`, ...parts, `together, of ${availableParallelism()}`],
  workers.map((count) => [
    `${count} workers`,
    ...parts.map((part) => share(count, part).toFixed(2)),
    used(count).toFixed(2),
  ]),
)}

${sayTargets([
  { what: `p50 of an execution, ${setting.few} at once`, wanted: WANTED.p50Ms, found: few.p50Ms, better: 'less', say },
  { what: `p99 of an execution, ${setting.few} at once`, wanted: WANTED.p99Ms, found: few.p99Ms, better: 'less', say },
  {
    what: `nodes to steps of DBOS, ${compared} processes each`,
    wanted: WANTED.toDbos,
    found: ratio(of(names.many(compared)), of(names.dbos)),
    better: 'more',
    say: times,
  },
])}

${sayGrowth(workers, (count) => medianFigures(of(names.many(count))).perSecond, used)}
`
}

/** What doubling the workers brought, and what was full. */
function sayGrowth(workers: number[], speed: (count: number) => number, used: (count: number) => number): string {
  const [one, two] = workers
  const gain = speed(two!) / speed(one!)
  const cores = availableParallelism()
  const full = used(two!) > cores * 0.85
  return `From ${one} to ${two} workers: ${times(gain)}; ${
    full
      ? `the cores are what is full (${used(two!).toFixed(2)} of ${cores} in use)`
      : `neither the cores nor the workers are full, so it is waiting that bounds it`
  }.`
}
