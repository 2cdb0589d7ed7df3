import { useState } from 'react'
import type { EdgeChange, NodeChange } from '@xyflow/react'
import type { Size } from '../core/first-positions.ts'
import { moveNodes } from '../core/node-commands.ts'
import type { Position } from '../core/position.ts'
import { useSession } from '../session.ts'
import type { FlowEdge, FlowNode } from './drawn-items.ts'

/**
 * Takes what the canvas library says of nodes and edges. A drag is one step of the history, at its end; moves by arrow keys, which
 * the library tells of in the same way, are a group.
 */
export function useFlowChanges() {
  const { editor } = useSession()
  const [dragged, setDragged] = useState<ReadonlyMap<string, Position>>(new Map())
  const [sizes, setSizes] = useState<ReadonlyMap<string, Size>>(new Map())

  function onNodesChange(changes: NodeChange<FlowNode>[]): void {
    const moving = new Map<string, Position>()
    const moved = new Map<string, Position>()
    const measured = new Map<string, Size>()
    for (const change of changes) {
      if (change.type === 'position' && change.position)
        (change.dragging ? moving : moved).set(change.id, change.position)
      if (change.type === 'dimensions' && change.dimensions) measured.set(change.id, change.dimensions)
    }
    if (measured.size > 0) setSizes((before) => new Map([...before, ...measured]))
    if (moving.size > 0) setDragged((before) => new Map([...before, ...moving]))
    if (moved.size > 0) {
      editor.change((graph) => moveNodes(graph, moved), dragged.size > 0 ? null : 'arrows')
      setDragged(new Map())
    }
    // The newest, not the one that was drawn: of one click the library may tell twice before the next drawing.
    const { selectedNodes, selectedEdges } = editor.store.getState()
    const chosen = changed(selectedNodes, changes)
    if (chosen) editor.select(chosen, selectedEdges)
  }
  function onEdgesChange(changes: EdgeChange<FlowEdge>[]): void {
    const { selectedNodes, selectedEdges } = editor.store.getState()
    const chosen = changed(selectedEdges, changes)
    if (chosen) editor.select(selectedNodes, chosen)
  }
  return { dragged, sizes, onNodesChange, onEdgesChange }
}

/** null where nothing was chosen or left. */
function changed(
  selected: ReadonlySet<string>,
  changes: (NodeChange<FlowNode> | EdgeChange<FlowEdge>)[],
): Set<string> | null {
  const selections = changes.filter((change) => change.type === 'select')
  if (selections.length === 0) return null
  const chosen = new Set(selected)
  for (const { id, selected: isChosen } of selections)
    if (isChosen) chosen.add(id)
    else chosen.delete(id)
  return chosen
}
