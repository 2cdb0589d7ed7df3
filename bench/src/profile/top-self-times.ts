import type { Profiler } from 'node:inspector'
import { table } from '../report/table.ts'

const MOST_ROWS = 35

/**
 * The functions that a CPU profile (`node --cpu-prof`, or the inspector's) found working themselves, not through others,
 * as a share of the time that was not idle.
 */
export function topSelfTimes(profile: Profiler.Profile): string {
  const { nodes, samples = [], timeDeltas = [] } = profile
  const nameOf = new Map(nodes.map((node) => [node.id, nameOfFrame(node.callFrame)]))
  const timeOf = new Map<string, number>()
  let busy = 0
  let idle = 0
  for (const [n, id] of samples.entries()) {
    const name = nameOf.get(id) ?? '(unknown)'
    const took = timeDeltas[n] ?? 0
    if (name.startsWith('(idle)')) idle += took
    else {
      busy += took
      timeOf.set(name, (timeOf.get(name) ?? 0) + took)
    }
  }
  const rows = [...timeOf]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, MOST_ROWS)
    .map(([name, took]) => [name, `${((took / busy) * 100).toFixed(1)} %`, `${(took / 1000).toFixed(0)} ms`])
  const share = ((busy / (busy + idle || 1)) * 100).toFixed(0)
  return `Busy ${share} % of the time.\n${table(['function', 'self', 'time'], rows)}`
}

/** `name file:line`, with the file below its package or the project. */
function nameOfFrame({ functionName, url, lineNumber }: Profiler.Profile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)'
  if (!url) return name
  const file = url
    .replace(/^file:\/\//, '')
    .replace(/^.*\/node_modules\//, '')
    .replace(/^.*\/(?=(services|packages|bench)\/)/, '')
  return `${name} ${file}:${lineNumber + 1}`
}
