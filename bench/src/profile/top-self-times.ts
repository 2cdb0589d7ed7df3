import type { Profiler } from 'node:inspector'
import { table } from '../report/table.ts'

const MOST_FUNCTIONS = 30
const MOST_PLACES = 25

type Frame = Profiler.ProfileNode['callFrame']

/**
 * Summarizes a CPU profile (`node --cpu-prof`, or the inspector's) as shares of the busy time: self time by function,
 * and by caller: the innermost file of ours on the stack, else the package.
 */
export function topSelfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): string {
  const frameOf = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const stackOf = (id: number | undefined): Frame[] =>
    id === undefined ? [] : [frameOf.get(id)!, ...stackOf(parentOf.get(id))]

  const byFunction = new Map<string, number>()
  const byPlace = new Map<string, number>()
  const add = (to: Map<string, number>, name: string, took: number) => to.set(name, (to.get(name) ?? 0) + took)
  const names = new Map(nodes.map(({ id }) => [id, { itself: nameOf(frameOf.get(id)!), place: placeOf(stackOf(id)) }]))
  let busy = 0
  let idle = 0
  for (const [n, id] of samples.entries()) {
    const { itself, place } = names.get(id)!
    const took = timeDeltas[n] ?? 0
    if (itself === '(idle)') idle += took
    else {
      busy += took
      add(byFunction, itself, took)
      add(byPlace, place, took)
    }
  }
  const rows = (of: Map<string, number>, most: number) =>
    [...of]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, most)
      .map(([name, took]) => [name, `${((took / busy) * 100).toFixed(1)} %`, `${(took / 1000).toFixed(0)} ms`])
  return [
    `Busy ${((busy / (busy + idle || 1)) * 100).toFixed(0)} % of the time.`,
    table(['function', 'itself', 'time'], rows(byFunction, MOST_FUNCTIONS)),
    table(['on behalf of', 'share', 'time'], rows(byPlace, MOST_PLACES)),
  ].join('\n\n')
}

/** `name file:line`. */
function nameOf({ functionName, url, lineNumber }: Frame): string {
  const name = functionName || '(anonymous)'
  return url ? `${name} ${shortened(url)}:${lineNumber + 1}` : name
}

function placeOf(stack: Frame[]): string {
  const files = stack.flatMap(({ url }) => (url ? [shortened(url)] : []))
  const ours = files.find((file) => /^(services|packages|bench)\//.test(file))
  if (ours) return ours
  const foreign = files.find((file) => !file.startsWith('node:'))
  if (foreign)
    return foreign
      .split('/')
      .slice(0, foreign.startsWith('@') ? 2 : 1)
      .join('/')
  return files[0] ?? nameOf(stack[0]!)
}

/** The path relative to its package or the project. */
function shortened(url: string): string {
  return url
    .replace(/^file:\/\//, '')
    .replace(/^.*\/node_modules\//, '')
    .replace(/^.*\/(?=(services|packages|bench)\/)/, '')
}
