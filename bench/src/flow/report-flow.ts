import { availableParallelism } from 'node:os'
import { median, medianFigures, ratio, type Figures } from '../load/figures.ts'
import { cells, ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'

const PARTS = ['gateway', 'ledger', 'workers', 'postgres', 'redis', 'load'] as const
type Part = (typeof PARTS)[number]

/** Processor use of one measurement; `load` is the calling process: this one. */
export interface Work {
  /** Processor time divided by the number of completed nodes. */
  perNodeMs: Partial<Record<Part, number>>
  /** Cores in use. */
  cores: Partial<Record<Part, number>>
}

export interface Names {
  dbos: (processes: number) => string
  runs: (workers: number, clients: number) => string
  ofLength: (nodes: number) => string
  /** As many workers as are compared, with slices. */
  sliced: () => string
  lines: (clients: number) => string
  paid: (clients: number) => string
}

interface Flow {
  measured: Map<string, Figures[]>
  names: Names
  workers: number[]
  /** Number of workers compared with as many DBOS processes. */
  compared: number
  setting: { nodes: number; jobs: number; lone: number; few: number; many: number }
  /** Two lengths of executions, with the part of each that goes through workers. */
  lengths: [Length, Length]
  /** Paid calls of one execution, in sequence, and how long the model takes for each. */
  paid: { calls: number; callMs: number }
  work: Map<string, Work[]>
  run: string
}

interface Length {
  nodes: number
  jobs: number
}

const WANTED = { toDbos: 1.1, slicedToDbos: 1.8, loneMs: 40, p99ToP50: 2, paidOverhead: 0.1 }

export function reportFlow({ measured, names, workers, compared, setting, lengths, paid, work, run }: Flow): string {
  const { lone, few, many } = setting
  const of = (name: string) => measured.get(name)!
  const figures = (name: string) => medianFigures(of(name))
  const mid = (name: string, what: keyof Work, part: Part) =>
    median((work.get(name) ?? []).map((one) => one[what][part] ?? 0))
  const together = (name: string, what: keyof Work, parts: readonly Part[] = PARTS) =>
    parts.reduce((sum, part) => sum + mid(name, what, part), 0)
  const shown = [
    names.dbos(1),
    names.dbos(compared),
    names.runs(compared, lone),
    ...workers.flatMap((count) => [names.runs(count, few), names.runs(count, many)]),
    names.sliced(),
  ]
  const paidShown = [names.paid(lone), names.paid(few)]
  const callsMs = paid.calls * paid.callMs
  const lengthNames = lengths.map(({ nodes }) => names.ofLength(nodes))
  const ours: readonly Part[] = PARTS.filter((part) => part !== 'load')
  const perNode = (name: string) => together(name, 'perNodeMs', ours)
  const micros = (value: number) => `${(value * 1_000).toFixed(0)} µs`
  const fewNow = figures(names.runs(compared, few))
  return `${run}

A linear flow of ${setting.nodes} free nodes, ${setting.jobs} of them run by workers (\`input\` has nothing to run), through gateway, ledger, queue
and separate worker processes, durable at every node; DBOS runs ${setting.jobs} steps in the process that asked for them.

${table(
  ['processor time of a node', ...ours, 'together', 'to DBOS'],
  [...shown, ...lengthNames].map((name) => [
    name,
    ...ours.map((part) => micros(mid(name, 'perNodeMs', part))),
    micros(perNode(name)),
    times(perNode(name) / perNode(names.dbos(compared))),
  ]),
)}

${formatFixed(lengths, (nodes) => perNode(names.ofLength(nodes)))}

${table(
  ['', 'nodes/s', 'p50 of an execution', 'p99 of an execution'],
  [...shown, ...paidShown].map((name) => [
    name,
    ...cells(figures(name)).map((cell) => (cell.includes('NaN') ? '' : cell)),
  ]),
)}

${table(
  ['from the end of a node to its line at the caller', 'lines/s', 'p50', 'p99'],
  [lone, few].map(names.lines).map((name) => [name, ...cells(figures(name))]),
)}

${table(
  [`cores in use, ${many} executions at once`, ...PARTS, `together, of ${availableParallelism()}`],
  workers
    .map((count) => names.runs(count, many))
    .map((name) => [
      name,
      ...PARTS.map((part) => mid(name, 'cores', part).toFixed(2)),
      together(name, 'cores').toFixed(2),
    ]),
)}

${formatTargets([
  ...([2, 1] as const).map((count) => ({
    what: `nodes to steps of DBOS, ${count} process${count === 1 ? '' : 'es'} each`,
    wanted: WANTED.toDbos,
    found: ratio(of(names.runs(count, many)), of(names.dbos(count))),
    better: 'more' as const,
    say: times,
  })),
  {
    what: `the same with slices, ${compared} processes each`,
    wanted: WANTED.slicedToDbos,
    found: ratio(of(names.sliced()), of(names.dbos(compared))),
    better: 'more',
    say: times,
  },
  {
    what: `p50 of a lone execution of ${setting.nodes} nodes`,
    wanted: WANTED.loneMs,
    found: figures(names.runs(compared, lone)).p50Ms,
    better: 'less',
    say: ms,
  },
  {
    what: `p99 to p50 of an execution, ${few} at once`,
    wanted: WANTED.p99ToP50,
    found: fewNow.p99Ms / fewNow.p50Ms,
    better: 'less',
    say: times,
  },
  ...[lone, few].map((clients) => ({
    what: `p50 above its ${paid.calls} calls of ${paid.callMs} ms, ${clients} at once`,
    wanted: WANTED.paidOverhead,
    found: figures(names.paid(clients)).p50Ms / callsMs - 1,
    better: 'less' as const,
    say: (share: number) => `${(share * 100).toFixed(1)} %`,
  })),
])}

${formatGrowth(
  workers,
  (count) => figures(names.runs(count, many)).perSecond,
  (count) => together(names.runs(count, many), 'cores'),
)}
`
}

/** Fixed cost of an execution in addition to its nodes, from two lengths. */
function formatFixed([short, long]: [Length, Length], perNodeMs: (nodes: number) => number): string {
  const [ofShort, ofLong] = [short, long].map(({ nodes, jobs }) => perNodeMs(nodes) * jobs) as [number, number]
  const eachMs = (ofLong - ofShort) / (long.jobs - short.jobs)
  const fixedMs = ofShort - short.jobs * eachMs
  return `Processor time of an execution: ${ms(fixedMs)}, and ${ms(eachMs)} for each node more (from ${short.nodes} and ${long.nodes} nodes).`
}

/** The gain from doubling the workers, and what was saturated. */
function formatGrowth(workers: number[], speed: (count: number) => number, used: (count: number) => number): string {
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
