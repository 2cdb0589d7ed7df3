import type { GraphEdge, GraphNote } from '@gateway/api/graph'
import { sameJson } from '@gateway/flow/compare/graph-units'
import type { CanvasModel, CanvasNode } from '../core/canvas-model.ts'
import { kindTitle } from '../core/kind-labels.ts'
import type { Position } from '../core/position.ts'
import type { Size } from '../core/placement.ts'
import { useState, useEffect, useRef, type RefObject } from 'react'
import { moveNodes } from '../core/node-commands.ts'
import { changeNotes } from '../core/note-commands.ts'
import { useSession } from '../state/open-editor.ts'
import { several } from '../../components/usd.ts'
import {
  useNodesInitialized,
  useReactFlow,
  type Edge,
  type Node,
  type EdgeChange,
  type NodeChange,
} from '@xyflow/react'

// Converts a canvas model to the nodes and edges of the canvas library.

/** @property warnings messages of what is allowed and rarely meant */
export type FlowCard = Node<{ drawn: CanvasNode; warnings: string[] }, 'node'>
export type FlowNote = Node<{ note: GraphNote; isEditing: boolean }, 'note'>
export type FlowNode = FlowCard | FlowNote
export type FlowEdge = Edge<{ edge: GraphEdge }, 'wire'>

interface DrawnState {
  selected: ReadonlySet<string>
  selectedNotes: ReadonlySet<string>
  /** Current positions of nodes being dragged. */
  dragged: ReadonlyMap<string, Position>
  sizes: ReadonlyMap<string, Size>
  /** Current size of a note being resized. */
  resized: ReadonlyMap<string, Size>
  /** States of the shown execution, by node ID. */
  states: ReadonlyMap<string, string>
  /** ID of the note whose text is being edited. */
  editing: string | null
}

const NOTE = 'note:'
/** Sets the notes apart from nodes, whose IDs have no colon. */
export const noteNodeId = (id: string) => `${NOTE}${id}`
export const noteIdOf = (id: string) => (id.startsWith(NOTE) ? id.slice(NOTE.length) : null)

export function flowNodes({ graph, nodes, warnings }: CanvasModel, drawing: DrawnState): FlowNode[] {
  const { selected, selectedNotes, dragged, sizes, resized, states, editing } = drawing
  const warned = Map.groupBy(warnings, ({ node }) => node)
  const cards = nodes.map((drawn): FlowCard => {
    const measured = sizes.get(drawn.key)
    const itsWarnings = (warned.get(drawn.node.id) ?? []).map(({ message }) => message)
    return {
      id: drawn.key,
      type: 'node',
      position: dragged.get(drawn.key) ?? drawn.position ?? { x: 0, y: 0 },
      data: { drawn, warnings: itsWarnings },
      selected: selected.has(drawn.key),
      ariaLabel: nodeName(drawn, itsWarnings, states.get(drawn.node.id)),
      ...(measured && { measured }),
    }
  })
  const notes = (graph.notes ?? []).map((note): FlowNote => {
    const id = noteNodeId(note.id)
    const measured = sizes.get(id)
    return {
      id,
      type: 'note',
      position: dragged.get(id) ?? note.position,
      ...(resized.get(id) ?? note.size),
      data: { note, isEditing: note.id === editing },
      selected: selectedNotes.has(note.id),
      zIndex: -1,
      connectable: false,
      ariaLabel: `Note: ${note.text.slice(0, 80) || 'empty'}`,
      ...(measured && { measured }),
    }
  })
  return [...notes, ...cards]
}

/** Name for screen readers: kind, name, state of the run, and problems. */
function nodeName({ node, problems }: CanvasNode, warnings: readonly string[], state: string | undefined): string {
  const { title } = node
  return [
    `${kindTitle(node.kind).title} ${node.id}`,
    typeof title === 'string' && title !== '' && title,
    state,
    problems.length > 0 && several(problems.length, 'problem'),
    warnings.length > 0 && several(warnings.length, 'warning'),
  ]
    .filter(Boolean)
    .join(', ')
}

/** @param target key of the edge that a dragged node would be inserted into */
export function flowEdges({ edges }: CanvasModel, selected: ReadonlySet<string>, target: string | null): FlowEdge[] {
  return edges.map(({ key, edge, from, to, type, hasProblem }) => ({
    id: key,
    type: 'wire',
    data: { edge },
    source: from.key,
    sourceHandle: from.port,
    target: to.key,
    targetHandle: to.port,
    selected: selected.has(key),
    className: `type-${type}${hasProblem ? ' faulty' : ''}${key === target ? ' drop-target' : ''}`,
    ariaLabel: `From ${edge.from} to ${edge.to}`,
  }))
}

/**
 * Returns a function that gives back the earlier object of each node or edge that did not change. The canvas library
 * renders only new objects, so a move renders one node instead of all.
 */
export function reusingUnchanged<Item extends { id: string; data?: object | undefined }>(): (next: Item[]) => Item[] {
  let known = new Map<string, Item>()
  return (next) => {
    const items = next.map((item) => {
      const before = known.get(item.id)
      if (!before) return item
      const { data, ...rest } = item
      const { data: dataBefore, ...restBefore } = before
      if (!sameJson(data, dataBefore)) return item
      return sameJson(rest, restBefore) ? before : { ...item, data: dataBefore }
    })
    known = new Map(items.map((item) => [item.id, item]))
    return items
  }
}

/**
 * Applies node and edge changes from the canvas library. A drag of any number of nodes and notes becomes one history
 * step when it ends, and what follows from its drop belongs to that step. Moves by arrow keys, which the library
 * reports in the same way, are grouped.
 */
export function useFlowChanges() {
  const { editor } = useSession()
  const [dragged, setDragged] = useState<ReadonlyMap<string, Position>>(new Map())
  const [sizes, setSizes] = useState<ReadonlyMap<string, Size>>(new Map())
  const [resized, setResized] = useState<ReadonlyMap<string, Size>>(new Map())
  const drags = useRef(0)

  function onNodesChange(changes: NodeChange<FlowNode>[]): void {
    const moving = new Map<string, Position>()
    const moved = new Map<string, Position>()
    const measured = new Map<string, Size>()
    for (const change of changes) {
      if (change.type === 'position' && change.position)
        (change.dragging ? moving : moved).set(change.id, change.position)
      if (change.type !== 'dimensions') continue
      if (change.resizing !== undefined) onResize(change.id, change.dimensions, change.resizing)
      if (change.dimensions) measured.set(change.id, change.dimensions)
    }
    if (measured.size > 0) setSizes((before) => new Map([...before, ...measured]))
    if (moving.size > 0) setDragged((before) => new Map([...before, ...moving]))
    if (moved.size > 0) {
      drags.current++
      editor.change((graph) => moveAll(graph, moved), dragGroup())
      setDragged(new Map())
    }
    // Read the current selection, not the rendered one: the library may report a click twice before the next render.
    const { selectedNodes, selectedEdges, selectedNotes } = editor.store.getState()
    const isOfNote = (change: NodeChange<FlowNode>) => 'id' in change && noteIdOf(change.id) !== null
    const chosen = changed(
      selectedNodes,
      changes.filter((change) => !isOfNote(change)),
    )
    const chosenNotes = changed(selectedNotes, changes.filter(isOfNote), NOTE)
    if (chosen || chosenNotes) editor.select(chosen ?? selectedNodes, selectedEdges, chosenNotes ?? selectedNotes)
  }
  function onResize(id: string, size: Size | undefined, isResizing: boolean): void {
    if (isResizing) return setResized(size ? new Map([[id, size]]) : new Map())
    const after = size ?? resized.get(id)
    setResized(new Map())
    if (after)
      editor.change((graph) => changeNotes(graph, new Map([[noteIdOf(id) ?? '', { size: roundedSize(after) }]])))
  }
  function onEdgesChange(changes: EdgeChange<FlowEdge>[]): void {
    const { selectedNodes, selectedEdges, selectedNotes } = editor.store.getState()
    const chosen = changed(selectedEdges, changes)
    if (chosen) editor.select(selectedNodes, chosen, selectedNotes)
  }
  /** Group of the history step of the last drag. */
  const dragGroup = () => `drag ${drags.current}`
  return { dragged, sizes, resized, onNodesChange, onEdgesChange, dragGroup }
}

const roundedSize = ({ width, height }: Size): Size => ({ width: Math.round(width), height: Math.round(height) })

function moveAll(graph: CanvasModel['graph'], moved: ReadonlyMap<string, Position>): CanvasModel['graph'] {
  const notes = new Map(
    [...moved].flatMap(([id, { x, y }]) => {
      const note = noteIdOf(id)
      return note === null ? [] : [[note, { position: { x: Math.round(x), y: Math.round(y) } }] as const]
    }),
  )
  return moveNodes(changeNotes(graph, notes), moved)
}

/** New selection, or null if it did not change. @param prefix of the IDs on the canvas */
function changed(
  selected: ReadonlySet<string>,
  changes: (NodeChange<FlowNode> | EdgeChange<FlowEdge>)[],
  prefix = '',
): Set<string> | null {
  const selections = changes.filter((change) => change.type === 'select')
  if (selections.length === 0) return null
  const chosen = new Set(selected)
  for (const { id, selected: isChosen } of selections)
    if (isChosen) chosen.add(id.slice(prefix.length))
    else chosen.delete(id.slice(prefix.length))
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
    const first = nodes.find(({ data }) => 'drawn' in data && data.drawn.node.kind === 'input') ?? nodes[0]!
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
