import type { Graph, GraphNode, GraphNote } from '@gateway/api/graph'
import { withoutNotes } from '../graph/layout.ts'
import { sameJson, type Unit, unitsOf } from './graph-units.ts'
import { sameUnit } from './merge.ts'

export interface ChangedPart {
  /** Name of the part: `node draft`, `input topic`, `output`. */
  key: string
  change: 'added' | 'removed' | 'changed'
  /** Changed fields of a node, and `edges`. */
  fields: string[]
}

export interface Difference {
  parts: ChangedPart[]
  /** Ids of nodes whose position changed. */
  moved: string[]
  /** The packages are the same: only positions, titles, descriptions or sticky notes changed. */
  runsTheSame: boolean
}

export function differenceOf(before: Graph, after: Graph): Difference {
  const [from, to] = [unitsOf(before), unitsOf(after)]
  const parts = [...new Set([...from.keys(), ...to.keys()])].flatMap((key): ChangedPart | [] => {
    const [a, b] = [from.get(key) ?? null, to.get(key) ?? null]
    if (a?.part === 'note' ? sameJson(a, b) : sameUnit(a, b)) return [] // a moved note has changed
    return { key, change: a === null ? 'added' : b === null ? 'removed' : 'changed', fields: changedFields(a, b) }
  })
  return { parts, moved: movedNodes(before, after), runsTheSame: runsTheSame(before, after) }
}

function changedFields(a: Unit | null, b: Unit | null): string[] {
  const [before, after] = [wordsOf(a), wordsOf(b)]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => !sameJson(before[name], after[name]))
}

function wordsOf(unit: Unit | null): Record<string, unknown> {
  if (unit === null) return {}
  if ('schema' in unit) return { ...unit.schema, required: unit.isRequired }
  if ('rest' in unit) return { ...unit.rest, required: unit.required }
  if ('note' in unit) return unit.note
  const { position: _, id: __, ...fields } = unit.nodes[0] ?? ({} as GraphNode)
  return { ...fields, ...(unit.edges.length > 0 && { edges: unit.edges }) }
}

function movedNodes(before: Graph, after: Graph): string[] {
  const positions = new Map(before.nodes.map((node) => [node.id, node['position']]))
  return after.nodes
    .filter(({ id, position }) => positions.has(id) && !sameJson(positions.get(id), position))
    .map(({ id }) => id)
}

/** The same parts in the same order give the same package, and therefore the same digest. */
function runsTheSame(before: Graph, after: Graph): boolean {
  const [a, b] = [before, after].map(({ notes: _, ...graph }) => ({
    ...graph,
    input: { required: [], ...graph.input },
    output: { required: [], ...graph.output },
    nodes: graph.nodes.map(withoutNotes),
  }))
  return sameJson(a, b)
}

/**
 * Returns a part of a graph as text for comparison, without positions: one line per field, and its incoming edges.
 */
export function unitText(unit: Unit | null): string {
  if (unit === null) return 'not there'
  if ('schema' in unit) return lines({ ...unit.schema, required: unit.isRequired })
  if ('rest' in unit) return lines(unit.rest) || 'nothing else'
  if ('note' in unit) return noteText(unit.note)
  const nodes = unit.nodes.map(({ id: _, position: __, ...fields }) => lines(fields))
  const edges = unit.edges.map(({ from, to }) => `← ${from} at ${to.slice(unit.id.length + 1)}`)
  return [...nodes, ...edges].join('\n')
}

function noteText({ text, color, size }: GraphNote): string {
  return lines({ text, color, size: `${size.width} × ${size.height}` })
}

function lines(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value, null, 1)}`)
    .join('\n')
}
