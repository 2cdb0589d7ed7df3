import { useState } from 'react'
import type { EdgeChange, NodeChange } from '@xyflow/react'
import type { Size } from '../core/first-positions.ts'
import { moveNodes } from '../core/node-commands.ts'
import type { Position } from '../core/position.ts'
import { useSession } from '../session.ts'
import type { FlowEdge, FlowNode } from './drawn-items.ts'

/**
 * Applies node and edge changes from the canvas library. A drag becomes one history step when it ends. Moves by arrow
 * keys, which the library reports in the same way, are grouped.
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
    // Read the current selection, not the rendered one: the library may report a click twice before the next render.
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

/** New selection, or null if it did not change. */
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
