import type { Graph, GraphNote } from '@gateway/api/graph'
import { moveNodes, nodeKeys } from './node-commands.ts'
import { positionOf, rounded, type Position } from './position.ts'

// Edits of sticky notes. Like the edits of nodes, each returns the same graph if nothing changed.

const SIZE = { width: 240, height: 140 }

export function addNote(graph: Graph, position: Position): { graph: Graph; id: string } {
  const before = graph.notes ?? []
  const id = freeNoteId(before)
  const note: GraphNote = { id, text: '', color: 'yellow', position: rounded(position), size: SIZE }
  return { graph: { ...graph, notes: [...before, note] }, id }
}

export function changeNotes(graph: Graph, changes: ReadonlyMap<string, Partial<Omit<GraphNote, 'id'>>>): Graph {
  let isChanged = false
  const notes = (graph.notes ?? []).map((note) => {
    const after = { ...note, ...changes.get(note.id) }
    if (JSON.stringify(after) === JSON.stringify(note)) return note
    isChanged = true
    return after
  })
  return isChanged ? { ...graph, notes } : graph
}

/** Moves nodes and notes by a distance. A node without a position stays. */
export function moveBy(graph: Graph, keys: ReadonlySet<string>, noteIds: ReadonlySet<string>, by: Position): Graph {
  const moved = ({ x, y }: Position): Position => rounded({ x: x + by.x, y: y + by.y })
  const all = nodeKeys(graph)
  const positions = graph.nodes.flatMap((node, ordinal): [string, Position][] => {
    const position = positionOf(node)
    return position && keys.has(all[ordinal]!) ? [[all[ordinal]!, moved(position)]] : []
  })
  const notes = (graph.notes ?? []).filter(({ id }) => noteIds.has(id))
  const changes = new Map(notes.map(({ id, position }) => [id, { position: moved(position) }]))
  return moveNodes(changeNotes(graph, changes), new Map(positions))
}

/** Removes notes. A graph without notes has no field for them. */
export function removeNotes(graph: Graph, ids: ReadonlySet<string>): Graph {
  const { notes = [], ...rest } = graph
  const left = notes.filter(({ id }) => !ids.has(id))
  if (left.length === notes.length) return graph
  return left.length === 0 ? rest : { ...rest, notes: left }
}

export function freeNoteId(notes: readonly GraphNote[]): string {
  const taken = new Set(notes.map(({ id }) => id))
  let number = 1
  while (taken.has(`note-${number}`)) number++
  return `note-${number}`
}
