import type { Graph } from '@gateway/api/graph'
import { unitsOf } from '@gateway/flow/compare/graph-units'
import { sameUnit } from '@gateway/flow/compare/merge'
import { freeId, renameNode } from './node-commands.ts'
import { freeNoteId } from './note-commands.ts'

/**
 * Returns mine with a free ID for each node and note that theirs added under the same ID, so that a merge keeps both.
 * IDs of an input or output node stay, because a flow has one of each. `renamed`: new IDs of nodes, by the old ones.
 */
export function withOwnIds({ base, theirs, mine }: Record<'base' | 'theirs' | 'mine', Graph>) {
  const [ofBase, ofTheirs] = [unitsOf(base), unitsOf(theirs)]
  const renamed = new Map<string, string>()
  const graph = [...unitsOf(mine)].reduce((graph, [key, unit]) => {
    const other = ofTheirs.get(key)
    if (!other || ofBase.has(key) || sameUnit(other, unit)) return graph
    const all = [base, theirs, graph]
    if (unit.part === 'note') {
      const id = freeNoteId(all.flatMap(({ notes = [] }) => notes))
      return { ...graph, notes: graph.notes!.map((note) => (note.id === unit.note.id ? { ...note, id } : note)) }
    }
    if (unit.part !== 'node' || unit.nodes.some(({ kind }) => kind === 'input' || kind === 'output')) return graph
    const named = { nodes: all.flatMap(({ nodes }) => nodes), edges: all.flatMap(({ edges }) => edges) }
    const id = freeId(named, unit.id)
    renamed.set(unit.id, id)
    return renameNode(graph, unit.id, id)
  }, mine)
  return { graph, renamed }
}
