import { useReactFlow } from '@xyflow/react'
import type { Graph } from '@gateway/api/graph'
import { announce } from '../../frame/announcer.ts'
import { insertNode, type Joint } from '../core/connection.ts'
import { freePlace, newNodeSize, type Box } from '../core/placement.ts'
import { NODE_WIDTH, type Position } from '../core/position.ts'
import { useSession } from '../state/open-editor.ts'
import type { Addable } from './addable-row.tsx'
import type { FlowNode } from './drawn-flow.ts'

/** Distance between a node and the one that is added after it. */
const BETWEEN = 72

/**
 * Returns a function that adds a node, as one history step, and selects it. Without a joint it comes after the only
 * selected node, if they can be connected. Without a position it goes to the nearest free place.
 */
export function useAdding() {
  const { editor, products } = useSession()
  const flow = useReactFlow<FlowNode>()
  const boxes = (): Box[] =>
    flow
      .getNodes()
      .filter(({ type }) => type === 'node')
      .map(({ position, measured }) => ({
        ...position,
        width: measured?.width ?? newNodeSize.width,
        height: measured?.height ?? newNodeSize.height,
      }))
  const behind = (key: string): Position | null => {
    const node = flow.getNode(key)
    return node ? { x: node.position.x + (node.measured?.width ?? NODE_WIDTH) + BETWEEN, y: node.position.y } : null
  }
  return (addable: Addable, { position, joint }: { position?: Position | null; joint?: Joint | null } = {}): string => {
    const joins = joint ?? afterSelected(editor.store.getState().selectedNodes)
    const wanted = (joins && 'after' in joins ? behind(joins.after) : null) ?? middleOfCanvas(flow)
    const place = position ?? freePlace(boxes(), wanted)
    let inserted = null as ReturnType<typeof insertNode> | null
    editor.change((graph: Graph) => {
      inserted = insertNode(graph, products, addable, place, joins)
      return inserted.graph
    })
    const { id, isJoined } = inserted!
    editor.select([id])
    if (joint && !isJoined) announce(`Added ${id}. None of its ports fits there, so it isn't connected.`)
    return id
  }
}

function afterSelected(selected: ReadonlySet<string>): Joint | null {
  const [only] = selected
  return selected.size === 1 && only !== undefined ? { after: only } : null
}

/** Place of a new node in the middle of the visible canvas. */
function middleOfCanvas(flow: Pick<ReturnType<typeof useReactFlow<FlowNode>>, 'screenToFlowPosition'>): Position {
  const canvas = document.querySelector('.flow-canvas')?.getBoundingClientRect() ?? new DOMRect()
  const middle = flow.screenToFlowPosition({ x: canvas.x + canvas.width / 2, y: canvas.y + canvas.height / 2 })
  return { x: middle.x - newNodeSize.width / 2, y: middle.y - newNodeSize.height / 2 }
}
