import type { BenchDeps } from '../bench.ts'
import { describeRun } from '../report/machine.ts'
import { table } from '../report/table.ts'
import { cellLoads, evenMap, movedSlots, rebalance, SLOTS, slotOf, type SlotMap } from './slot-map.ts'

// How evenly a fixed map divides projects over cells, and what a new cell moves. The projects are invented: a few have
// most of the load: 20 % of them have three quarters of it.

const PROJECTS = 100_000
const PARETO = 1.16
/** No project has more than one wallet can take, as a share of the load of all. */
const LARGEST = 0.01
const MOST = 1.05
const COUNTS = [2, 4, 8, 16, 32, 64]

export async function cells({ log }: BenchDeps): Promise<string> {
  log(`${PROJECTS} projects`)
  const slotLoads = loadsOfSlots()
  const rows = COUNTS.map((count) => {
    const even = evenMap(count)
    const balanced = rebalance(even, slotLoads, count, MOST)
    const grown = rebalance(balanced, slotLoads, count + 1, MOST)
    const share = (map: SlotMap, of: number) => {
      const loads = cellLoads(map, slotLoads, of)
      return Math.max(...loads) / (loads.reduce((sum, load) => sum + load, 0) / of)
    }
    return [
      String(count),
      `${share(even, count).toFixed(2)}×`,
      `${share(balanced, count).toFixed(2)}×`,
      percent(movedSlots(even, balanced)),
      percent(movedSlots(balanced, grown)),
      `${share(grown, count + 1).toFixed(2)}×`,
      percent(movedSlots(evenMap(count), evenMap(count + 1))),
    ]
  })
  return `${await describeRun(new Date())}

${PROJECTS.toLocaleString('en-US')} projects in ${SLOTS.toLocaleString('en-US')} slots; the largest has 1 % of the load, and 20 % of them have 75 %.

${table(
  [
    'cells',
    'fullest to the mean, slots dealt out',
    'after moving slots',
    'slots moved for it',
    'slots moved to one more cell',
    'fullest then',
    'moved by a new modulus',
  ],
  rows,
)}
`
}

function loadsOfSlots(): number[] {
  const loads = Array.from({ length: PROJECTS }, (_, n) => ((n + 0.5) / PROJECTS) ** (-1 / PARETO))
  const sum = loads.reduce((total, load) => total + load, 0)
  const slotLoads = Array.from({ length: SLOTS }, () => 0)
  for (const [n, load] of loads.entries()) slotLoads[slotOf(`prj_${n}`)]! += Math.min(load, sum * LARGEST)
  return slotLoads
}

function percent(slots: number): string {
  return `${((slots / SLOTS) * 100).toFixed(1)} %`
}
