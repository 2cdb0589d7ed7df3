import type { Graph, GraphNode } from '@gateway/api/graph'
import { graphOf, sameJson, type Unit, type Units, unitsOf } from './graph-units.ts'

// Three graphs become one: what both began with, what the other one saved since, and what is here. Nothing that anybody wrote is
// dropped by itself: where both changed one part in different ways, the author chooses.

export type Choice = 'mine' | 'theirs'

export interface MergedPart {
  /** As the parts of a graph are named: `node draft`, `input topic`, `output`. */
  key: string
  base: Unit | null
  theirs: Unit | null
  mine: Unit | null
  outcome: 'unchanged' | 'mine' | 'theirs' | 'both' | 'conflict'
}

/** Every part of any of the three, in the order of mine, then of theirs. `both`: changed alike. */
export function compareThree(base: Graph, theirs: Graph, mine: Graph): MergedPart[] {
  const [ofBase, ofTheirs, ofMine] = [unitsOf(base), unitsOf(theirs), unitsOf(mine)]
  return keysInOrder(ofBase, ofTheirs, ofMine).map((key) => {
    const part = { key, base: unit(ofBase, key), theirs: unit(ofTheirs, key), mine: unit(ofMine, key) }
    return { ...part, outcome: outcomeOf(part) }
  })
}

/** The merged graph; `choices` by the key of a part, and mine where a conflict has none. */
export function merged(parts: readonly MergedPart[], choices: ReadonlyMap<string, Choice>): Graph {
  return graphOf(parts.flatMap((part) => chosen(part, choices.get(part.key) ?? 'mine') ?? []))
}

function chosen(part: MergedPart, choice: Choice): Unit | null {
  const side = part.outcome === 'theirs' || (part.outcome === 'conflict' && choice === 'theirs') ? 'theirs' : 'mine'
  const unit = part[side]
  const other = part[side === 'mine' ? 'theirs' : 'mine']
  if (unit?.part !== 'node' || other?.part !== 'node' || part.base?.part !== 'node') return unit
  return { ...unit, nodes: unit.nodes.map((node, n) => movedNode(node, part, n)) }
}

/** Anyone who moved a node moved it, whose words are chosen; mine where both did. */
function movedNode(node: GraphNode, { base, theirs, mine }: MergedPart, n: number): GraphNode {
  const at = (unit: Unit | null) => (unit?.part === 'node' ? unit.nodes[n]?.['position'] : undefined)
  const position = sameJson(at(mine), at(base)) ? at(theirs) : at(mine)
  if (position === undefined || sameJson(position, node['position'])) return node
  return { ...node, position }
}

function outcomeOf({ base, theirs, mine }: Pick<MergedPart, 'base' | 'theirs' | 'mine'>): MergedPart['outcome'] {
  if (sameUnit(theirs, mine)) return sameUnit(base, mine) ? 'unchanged' : 'both'
  if (sameUnit(base, mine)) return 'theirs'
  return sameUnit(base, theirs) ? 'mine' : 'conflict'
}

export function sameUnit(a: Unit | null, b: Unit | null): boolean {
  return sameJson(a && withoutPositions(a), b && withoutPositions(b))
}

function withoutPositions(unit: Unit): Unit {
  if (unit.part !== 'node') return unit
  return { ...unit, nodes: unit.nodes.map(({ position: _, ...node }) => node) }
}

/** That of mine, unless only the other one put theirs in another order. */
function keysInOrder(base: Units, theirs: Units, mine: Units): string[] {
  const kept = [...base.keys()].filter((key) => mine.has(key))
  const untouched = [...mine.keys()].filter((key) => base.has(key)).every((key, n) => key === kept[n])
  const ordered = untouched ? [theirs, mine, base] : [mine, theirs, base]
  return [...new Set(ordered.flatMap((units) => [...units.keys()]))]
}

function unit(units: Units, key: string): Unit | null {
  return units.get(key) ?? null
}
