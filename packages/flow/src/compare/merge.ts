import type { Graph, GraphNode, GraphNote } from '@gateway/api/graph'
import { graphOf, sameJson, type Unit, type Units, unitsOf } from './graph-units.ts'

// Three-way merge of a graph: the common base, the other author's saved version, and the local one. No change is
// dropped automatically: if both changed one part differently, the author chooses.

export type Choice = 'mine' | 'theirs'

export interface MergedPart {
  /** Name of the part: `node draft`, `input topic`, `output`. */
  key: string
  base: Unit | null
  theirs: Unit | null
  mine: Unit | null
  outcome: 'unchanged' | 'mine' | 'theirs' | 'both' | 'conflict'
}

/** Returns every part of the three graphs, in the order of mine, then of theirs. `both`: same change on both sides. */
export function compareThree(base: Graph, theirs: Graph, mine: Graph): MergedPart[] {
  const [ofBase, ofTheirs, ofMine] = [unitsOf(base), unitsOf(theirs), unitsOf(mine)]
  return keysInOrder(ofBase, ofTheirs, ofMine).map((key) => {
    const part = { key, base: unit(ofBase, key), theirs: unit(ofTheirs, key), mine: unit(ofMine, key) }
    return { ...part, outcome: outcomeOf(part) }
  })
}

/** Returns the merged graph. `choices` by key of a part; a conflict without a choice takes mine. */
export function merged(parts: readonly MergedPart[], choices: ReadonlyMap<string, Choice>): Graph {
  return graphOf(parts.flatMap((part) => chosen(part, choices.get(part.key) ?? 'mine') ?? []))
}

function chosen(part: MergedPart, choice: Choice): Unit | null {
  const side = part.outcome === 'theirs' || (part.outcome === 'conflict' && choice === 'theirs') ? 'theirs' : 'mine'
  const unit = part[side]
  const other = part[side === 'mine' ? 'theirs' : 'mine']
  if (unit === null || other === null || part.base === null) return unit
  if (unit.part === 'node') return { ...unit, nodes: unit.nodes.map((node, n) => moved(node, part, n)) }
  return unit.part === 'note' ? { ...unit, note: moved(unit.note, part, 0) } : unit
}

/** Applies a moved position independently of which side's content is chosen; mine if both moved the node or note. */
function moved<Drawn extends GraphNode | GraphNote>(
  drawn: Drawn,
  { base, theirs, mine }: MergedPart,
  n: number,
): Drawn {
  const [was, there, here] = [base, theirs, mine].map((unit) => positionIn(unit, n))
  const position = sameJson(here, was) ? (there ?? here) : here
  if (position === undefined || sameJson(position, drawn['position'])) return drawn
  return { ...drawn, position }
}

function positionIn(unit: Unit | null, n: number): unknown {
  if (unit?.part === 'note') return unit.note.position
  return unit?.part === 'node' ? unit.nodes[n]?.['position'] : undefined
}

function outcomeOf({ base, theirs, mine }: Pick<MergedPart, 'base' | 'theirs' | 'mine'>): MergedPart['outcome'] {
  if (sameUnit(theirs, mine)) return sameUnit(base, mine) ? 'unchanged' : 'both'
  if (sameUnit(base, mine)) return 'theirs'
  return sameUnit(base, theirs) ? 'mine' : 'conflict'
}

/** Whether two parts are equal apart from their positions. */
export function sameUnit(a: Unit | null, b: Unit | null): boolean {
  return sameJson(a && withoutPositions(a), b && withoutPositions(b))
}

function withoutPositions(unit: Unit): object {
  if (unit.part === 'note') return { ...unit, note: { ...unit.note, position: null } }
  if (unit.part !== 'node') return unit
  return { ...unit, nodes: unit.nodes.map(({ position: _, ...node }) => node) }
}

/** Returns the order of mine, unless only theirs was reordered. */
function keysInOrder(base: Units, theirs: Units, mine: Units): string[] {
  const kept = [...base.keys()].filter((key) => mine.has(key))
  const untouched = [...mine.keys()].filter((key) => base.has(key)).every((key, n) => key === kept[n])
  const ordered = untouched ? [theirs, mine, base] : [mine, theirs, base]
  return [...new Set(ordered.flatMap((units) => [...units.keys()]))]
}

function unit(units: Units, key: string): Unit | null {
  return units.get(key) ?? null
}
