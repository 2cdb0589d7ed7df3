import type { CanvasModel, CanvasNode } from '../core/canvas-model.ts'
import { kindTitle } from '../core/kind-labels.ts'
import type { Position } from '../core/position.ts'
import type { Size } from '../core/first-positions.ts'
import { useState, useEffect, useRef, type RefObject } from 'react'
import { moveNodes } from '../core/node-commands.ts'
import { useSession } from '../state/open-editor.ts'
import {
  useNodesInitialized,
  useReactFlow,
  type Edge,
  type Node,
  type EdgeChange,
  type NodeChange,
} from '@xyflow/react'

// Converts a canvas model to the nodes and edges of the canvas library.

export type FlowNode = Node<{ drawn: CanvasNode }, 'node'>
type FlowEdge = Edge

interface DrawnState {
  selected: ReadonlySet<string>
  /** Current positions of nodes being dragged. */
  dragged: ReadonlyMap<string, Position>
  sizes: ReadonlyMap<string, Size>
}

export function flowNodes({ nodes }: CanvasModel, { selected, dragged, sizes }: DrawnState): FlowNode[] {
  return nodes.map((drawn) => {
    const measured = sizes.get(drawn.key)
    return {
      id: drawn.key,
      type: 'node',
      position: dragged.get(drawn.key) ?? drawn.position ?? { x: 0, y: 0 },
      data: { drawn },
      selected: selected.has(drawn.key),
      ariaLabel: `${kindTitle(drawn.node.kind).title} ${drawn.node.id}`,
      ...(measured && { measured }),
    }
  })
}

export function flowEdges({ edges }: CanvasModel, selected: ReadonlySet<string>): FlowEdge[] {
  return edges.map(({ key, edge, from, to, type, hasProblem }) => ({
    id: key,
    source: from.key,
    sourceHandle: from.port,
    target: to.key,
    targetHandle: to.port,
    selected: selected.has(key),
    className: `type-${type}${hasProblem ? ' faulty' : ''}`,
    ariaLabel: `From ${edge.from} to ${edge.to}`,
  }))
}

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

/** Shows the flow readable once its nodes are measured for the first time. */
export function useOpeningView(element: RefObject<HTMLElement | null>): void {
  const flow = useReactFlow<FlowNode>()
  const isMeasured = useNodesInitialized()
  const isShown = useRef(false)
  useEffect(() => {
    const nodes = flow.getNodes()
    if (!isMeasured || isShown.current || nodes.length === 0) return
    isShown.current = true
    const { width, height } = element.current!.getBoundingClientRect()
    const first = nodes.find(({ data }) => data.drawn.node.kind === 'input') ?? nodes[0]!
    void flow.setViewport(openingView({ width, height }, flow.getNodesBounds(nodes), flow.getNodesBounds([first])))
  }, [flow, isMeasured, element])
}

interface Box extends Position {
  width: number
  height: number
}

/** The smallest text of a node, 13 pixels, is at least 11 on the screen. */
export const READABLE_ZOOM = 0.85
const EDGE = 40

/**
 * Returns the view in which a flow opens: all of it in the middle, or, if its text were too small, its start on the
 * left.
 * @param bounds of all nodes
 * @param start the node that the flow begins with
 */
export function openingView(
  canvas: { width: number; height: number },
  bounds: Box,
  start: Box,
): { x: number; y: number; zoom: number } {
  const fitting = Math.min(1, (canvas.width - 2 * EDGE) / bounds.width, (canvas.height - 2 * EDGE) / bounds.height)
  if (fitting >= READABLE_ZOOM) return { ...middle(canvas, bounds, fitting), zoom: fitting }
  const zoom = READABLE_ZOOM
  const { x, y } = middle(canvas, bounds, zoom)
  const isWide = bounds.width * zoom > canvas.width - 2 * EDGE
  const isHigh = bounds.height * zoom > canvas.height - 2 * EDGE
  return { x: isWide ? EDGE - start.x * zoom : x, y: isHigh ? middle(canvas, start, zoom).y : y, zoom }
}

function middle(canvas: { width: number; height: number }, { x, y, width, height }: Box, zoom: number): Position {
  return { x: canvas.width / 2 - (x + width / 2) * zoom, y: canvas.height / 2 - (y + height / 2) * zoom }
}
