import { useEffect, useRef } from 'react'
import { disconnect, removeNodes, freeId, nodeKeys } from '../core/node-commands.ts'
import { edgeKey, renamedEdge } from '../core/edges.ts'
import { useSession, type Editor } from '../state/open-editor.ts'
import { announce } from '../../frame/announcer.ts'
import { isTyping } from '../is-typing.ts'
import { z } from 'zod'
import { graphEdge, graphNode, type Graph } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'
import { positionOf, rounded } from '../core/position.ts'

interface Actions {
  add(): void
  search(): void
  openForm(): void
  duplicate(): void
}

/** Keyboard shortcuts while the canvas or nothing has the focus. Fields and dialogs handle their own keys. */
export function useCanvasKeys(actions: Actions): void {
  const { editor } = useSession()
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isForCanvas(event)) return
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
      const node = nodeAt(event.target)
      const bound = event.ctrlKey || event.metaKey ? withControl(editor, latest.current) : plain(editor, latest.current)
      const action = key === 'Enter' && node !== null ? () => openForm(node) : bound[key]
      if (!action) return
      event.preventDefault()
      event.stopPropagation()
      action()
    }
    const openForm = (node: string) => {
      editor.select([node])
      latest.current.openForm()
    }
    document.addEventListener('keydown', onKeyDown, true)
    return () => document.removeEventListener('keydown', onKeyDown, true)
  }, [editor])
}

type Bound = Readonly<Record<string, (() => void) | undefined>>

function plain(editor: Editor, { add }: Actions): Bound {
  const remove = () => removeChosen(editor)
  return { '/': add, Delete: remove, Backspace: remove }
}

function withControl(editor: Editor, { search, duplicate }: Actions): Bound {
  const { graph } = editor.store.getState()
  return { f: search, d: duplicate, a: () => editor.select(nodeKeys(graph), graph.edges.map(edgeKey)) }
}

function removeChosen(editor: Editor): void {
  const { selectedNodes, selectedEdges } = editor.store.getState()
  if (selectedNodes.size + selectedEdges.size === 0) return
  editor.change((graph) => disconnect(removeNodes(graph, selectedNodes), selectedEdges))
  editor.select([])
  announce('Deleted. Press Ctrl+Z to undo.')
}

function isForCanvas({ target, altKey }: KeyboardEvent): boolean {
  if (altKey || isTyping(target) || document.querySelector('dialog[open]')) return false
  return target === document.body || (target instanceof Element && target.closest('.flow-canvas') !== null)
}

/** Key of the node that has the focus, not of one that contains the focused element. */
function nodeAt(target: EventTarget | null): string | null {
  const isNode = target instanceof HTMLElement && target.classList.contains('react-flow__node')
  return isNode ? (target.dataset['id'] ?? null) : null
}

const OFFSET = 40

/**
 * Copies selected nodes as text and pastes such text from any window. Fields keep the copy and paste of the browser.
 */
export function useClipboard(): { duplicate: () => void } {
  const { editor } = useSession()
  useEffect(() => {
    const onCopy = (event: ClipboardEvent) => {
      const { graph, selectedNodes } = editor.store.getState()
      const hasText = (getSelection()?.toString() ?? '') !== ''
      if (isTyping(event.target) || hasText || selectedNodes.size === 0) return
      event.clipboardData?.setData('text/plain', JSON.stringify(clip(graph, selectedNodes)))
      event.preventDefault()
      if (event.type === 'cut') editor.change((graph) => removeNodes(graph, selectedNodes))
    }
    const onPaste = (event: ClipboardEvent) => {
      const clipping = isTyping(event.target) ? null : readClipping(event.clipboardData?.getData('text/plain') ?? '')
      if (!clipping) return
      event.preventDefault()
      add(clipping)
    }
    const add = (clipping: ReturnType<typeof clip>) => pasteInto(editor, clipping)
    document.addEventListener('copy', onCopy)
    document.addEventListener('cut', onCopy)
    document.addEventListener('paste', onPaste)
    return () => {
      document.removeEventListener('copy', onCopy)
      document.removeEventListener('cut', onCopy)
      document.removeEventListener('paste', onPaste)
    }
  }, [editor])
  return {
    duplicate: () => {
      const { graph, selectedNodes } = editor.store.getState()
      pasteInto(editor, clip(graph, selectedNodes))
    },
  }
}

function pasteInto(editor: ReturnType<typeof useSession>['editor'], clipping: ReturnType<typeof clip>): void {
  let keys: string[] = []
  editor.change((graph) => {
    const pasted = paste(graph, clipping, OFFSET)
    keys = pasted.keys
    return pasted.graph
  })
  if (keys.length > 0) editor.select(keys)
}

const clipping = z.strictObject({ nodes: z.array(graphNode).min(1), edges: z.array(graphEdge) })
/** Copied nodes and the edges among them. */
type Clipping = z.infer<typeof clipping>

export function clip(graph: Graph, keys: ReadonlySet<string>): Clipping {
  const all = nodeKeys(graph)
  const nodes = graph.nodes.filter((_, ordinal) => keys.has(all[ordinal]!))
  const ids = new Set(nodes.map(({ id }) => id))
  const edges = graph.edges.filter(({ from, to }) => ids.has(endOf(from).node) && ids.has(endOf(to).node))
  return { nodes, edges }
}

/**
 * Pastes copied nodes and their edges with new IDs, offset by this many pixels. An input or output node is skipped if
 * the graph already has one, because a flow has one of each. Returns the keys of the new nodes.
 */
export function paste(graph: Graph, { nodes, edges }: Clipping, offset: number): { graph: Graph; keys: string[] } {
  const only = new Set(['input', 'output'].filter((only) => graph.nodes.some(({ kind }) => kind === only)))
  const ids = new Map<string, string>()
  const pasted = { nodes: [...graph.nodes], edges: [...graph.edges, ...edges] } // reserves their IDs
  for (const node of nodes) {
    if (only.has(node.kind) || ids.has(node.id)) continue
    const id = freeId(pasted, node.id)
    ids.set(node.id, id)
    const { x, y } = positionOf(node) ?? { x: 0, y: 0 }
    pasted.nodes.push({ ...node, id, position: rounded({ x: x + offset, y: y + offset }) })
  }
  const inner = edges.filter(({ from, to }) => ids.has(endOf(from).node) && ids.has(endOf(to).node))
  const renamed = inner.map((edge) => ({
    from: renamedEdge(edge, endOf(edge.from).node, ids.get(endOf(edge.from).node)!).from,
    to: renamedEdge(edge, endOf(edge.to).node, ids.get(endOf(edge.to).node)!).to,
  }))
  if (ids.size === 0) return { graph, keys: [] }
  return { graph: { ...graph, nodes: pasted.nodes, edges: [...graph.edges, ...renamed] }, keys: [...ids.values()] }
}

/** Parses copied nodes from clipboard text; null for any other text. */
export function readClipping(text: string): Clipping | null {
  try {
    const read = clipping.safeParse(JSON.parse(text))
    return read.success ? read.data : null
  } catch {
    return null
  }
}
