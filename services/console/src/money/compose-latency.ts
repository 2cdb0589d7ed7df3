import type { UsageLatency } from '@gateway/api/console/money'
import type { LatencyCell } from './latency-cells.ts'
import { latencyFigures, sumOfLatencies } from './latency-figures.ts'

/**
 * Figures of a report: of all calls, of each group, of each step, and of each group in each step.
 * @param timeOf start of a step
 */
export function composeLatency(cells: readonly LatencyCell[], timeOf: (step: number) => string): UsageLatency {
  const ofCells = (some: readonly LatencyCell[]) => latencyFigures(sumOfLatencies(some))
  const stepped = cells.filter(({ step }) => step !== null)
  return {
    total: ofCells(cells),
    groups: [...Map.groupBy(cells, ({ group }) => group)].map(([group, some]) => ({ group, ...ofCells(some) })),
    steps: [...Map.groupBy(stepped, ({ step }) => step!)].map(([step, some]) => ({
      time: timeOf(step),
      ...ofCells(some),
    })),
    cells: stepped.map((cell) => ({ time: timeOf(cell.step!), group: cell.group, ...latencyFigures(cell) })),
  }
}
