import { useEffect, useRef } from 'react'
import { useReactFlow } from '@xyflow/react'
import { disconnect, removeNodes, nodeKeys } from '../core/node-commands.ts'
import { moveBy, removeNotes } from '../core/note-commands.ts'
import { clip, paste, readClipping, type Clipping } from '../core/clipping.ts'
import { edgeKey } from '../core/edges.ts'
import { newNodeSize } from '../core/placement.ts'
import { positionOf, type Position } from '../core/position.ts'
import { useSession, type Editor } from '../state/open-editor.ts'
import { announce } from '../../frame/announcer.ts'
import { several } from '../../components/usd.ts'
import { isTyping } from '../is-typing.ts'

interface Actions {
  add(): void
  search(): void
  duplicate(): void
  /** Opens what a node or note on the canvas consists of. @param id on the canvas */
  open(id: string): void
  /** @param element the focused element, which the menu acts on */
  menu(element: Element): void
  /** Selects the node, note or edge that this element is, unless it is selected. */
  selectAt(element: Element): void
}

/** Keyboard shortcuts while the canvas, the heading of the flow or nothing has the focus. Fields and dialogs handle their own keys. */
export function useCanvasKeys(actions: Actions): void {
  const { editor } = useSession()
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    /** A field lost the focus by itself: the next key may be meant for it, and must not delete what is selected. */
    let wasTyping = false
    const onFocus = ({ target, type }: Event) => void (wasTyping = type === 'focusin' && isTyping(target))
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isForCanvas(event)) return
      if (wasTyping && ['Delete', 'Backspace'].includes(event.key)) return
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
      const node = nodeAt(event.target)
      const bound =
        event.ctrlKey || event.metaKey
          ? withControl(editor, latest.current)
          : plain(editor, latest.current, event.shiftKey ? 4 : 1)
      const isMenu = key === 'ContextMenu' || (key === 'F10' && event.shiftKey)
      const action = isMenu
        ? () => latest.current.menu(event.target as Element)
        : key === 'Enter' && node !== null
          ? () => latest.current.open(node)
          : bound[key]
      if (!action) return
      if (actsOnSelection.has(key)) selectFocused(editor, event.target, latest.current)
      if (key.startsWith('Arrow') && movable(editor) === 0) return // the page scrolls
      event.preventDefault()
      event.stopPropagation()
      action()
    }
    document.addEventListener('keydown', onKeyDown, true)
    for (const event of FOCUSES) document.addEventListener(event, onFocus, true)
    return () => {
      document.removeEventListener('keydown', onKeyDown, true)
      for (const event of FOCUSES) document.removeEventListener(event, onFocus, true)
    }
  }, [editor])
}

const FOCUSES = ['focusin', 'pointerdown'] as const

type Bound = Readonly<Record<string, (() => void) | undefined>>

/** With nothing selected, these keys act on what has the focus. */
const actsOnSelection = new Set(['Delete', 'Backspace', 'd', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'])

function selectFocused(editor: Editor, target: EventTarget | null, { selectAt }: Pick<Actions, 'selectAt'>): void {
  const { selectedNodes, selectedEdges, selectedNotes } = editor.store.getState()
  if (selectedNodes.size + selectedEdges.size + selectedNotes.size > 0) return
  if (target instanceof Element && target.matches('.react-flow__node, .react-flow__edge')) selectAt(target)
}

const STEP = 5

function plain(editor: Editor, { add }: Actions, factor: number): Bound {
  const remove = () => removeSelected(editor)
  const moving = (x: number, y: number) => () => moveSelected(editor, { x: x * STEP * factor, y: y * STEP * factor })
  return {
    '/': add,
    Delete: remove,
    Backspace: remove,
    ArrowUp: moving(0, -1),
    ArrowDown: moving(0, 1),
    ArrowLeft: moving(-1, 0),
    ArrowRight: moving(1, 0),
  }
}

function withControl(editor: Editor, { search, duplicate }: Actions): Bound {
  return { f: search, d: duplicate, a: () => selectAll(editor) }
}

export function selectAll(editor: Editor): void {
  const { graph } = editor.store.getState()
  editor.select(
    nodeKeys(graph),
    graph.edges.map(edgeKey),
    (graph.notes ?? []).map(({ id }) => id),
  )
}

/** Removes what is selected, as one history step. */
export function removeSelected(editor: Editor): void {
  const { selectedNodes, selectedEdges, selectedNotes } = editor.store.getState()
  if (selectedNodes.size + selectedEdges.size + selectedNotes.size === 0) return
  editor.change((graph) => removeNotes(disconnect(removeNodes(graph, selectedNodes), selectedEdges), selectedNotes))
  editor.select([])
  announce('Deleted. Press Ctrl+Z to undo.')
}

/** Moves what is selected. Consecutive moves are one history step. */
function moveSelected(editor: Editor, by: Position): void {
  const { selectedNodes, selectedNotes } = editor.store.getState()
  editor.change((graph) => moveBy(graph, selectedNodes, selectedNotes, by), 'arrows')
  announce(`Moved ${several(movable(editor), 'item')}.`)
}

/** Number of selected nodes and notes. */
function movable(editor: Editor): number {
  const { selectedNodes, selectedNotes } = editor.store.getState()
  return selectedNodes.size + selectedNotes.size
}

function isForCanvas({ target, altKey }: KeyboardEvent): boolean {
  if (altKey || isTyping(target) || document.querySelector('[role="dialog"], [role="menu"]')) return false
  return target === document.body || (target instanceof Element && target.closest('.flow-canvas, h1') !== null)
}

/** ID of the node or note that has the focus, not of one that contains the focused element. */
function nodeAt(target: EventTarget | null): string | null {
  const isNode = target instanceof HTMLElement && target.classList.contains('react-flow__node')
  return isNode ? (target.dataset['id'] ?? null) : null
}

const OFFSET: Position = { x: 40, y: 40 }

/**
 * Copies selected nodes and notes as text, through the clipboard of the system, and pastes such text from any flow and
 * window. Fields keep the copy and paste of the browser.
 */
export function useClipboard(selectAt: Actions['selectAt']) {
  const { editor } = useSession()
  const flow = useReactFlow()
  const add = (text: string, at: Position | null) => {
    const clipping = readClipping(text)
    if ('fault' in clipping) return announce(clipping.fault)
    pasteInto(editor, clipping, at ? movedTo(clipping, at) : shownOffset(clipping, flow))
  }
  const latest = useRef({ add, selectAt })
  useEffect(() => {
    latest.current = { add, selectAt }
  })
  useEffect(() => {
    const onCopy = (event: ClipboardEvent) => {
      selectFocused(editor, event.target, latest.current)
      const { graph, selectedNodes, selectedNotes } = editor.store.getState()
      const hasText = (getSelection()?.toString() ?? '') !== ''
      if (isTyping(event.target) || hasText || selectedNodes.size + selectedNotes.size === 0) return
      event.clipboardData?.setData('text/plain', JSON.stringify(clip(graph, selectedNodes, selectedNotes)))
      event.preventDefault()
      if (event.type === 'cut') removeSelected(editor)
      else announce(`Copied ${several(selectedNodes.size + selectedNotes.size, 'item')}.`)
    }
    const onPaste = (event: ClipboardEvent) => {
      const isElsewhere = isTyping(event.target) || document.querySelector('dialog[open], [role="dialog"]') !== null
      const text = event.clipboardData?.getData('text/plain') ?? ''
      if (isElsewhere || text === '') return
      event.preventDefault()
      latest.current.add(text, null)
    }
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
      const { graph, selectedNodes, selectedNotes } = editor.store.getState()
      pasteInto(editor, clip(graph, selectedNodes, selectedNotes), OFFSET)
    },
    /** Fires the event that the shortcut fires, so that a menu does the same without a permission. */
    copy: (what: 'copy' | 'cut') => void document.execCommand(what),
    /** @param at upper left corner of what is pasted */
    paste: async (at: Position) => {
      try {
        add(await navigator.clipboard.readText(), at)
      } catch {
        announce('The browser does not let this page read the clipboard. Press Ctrl+V to paste.')
      }
    },
  }
}

function pasteInto(editor: Editor, clipping: Clipping, by: Position): void {
  let pasted = null as ReturnType<typeof paste> | null
  editor.change((graph) => {
    pasted = paste(graph, clipping, by)
    return pasted.graph
  })
  const { keys, noteIds } = pasted!
  if (keys.length + noteIds.length > 0) editor.select(keys, [], noteIds)
  else if (clipping.nodes.length > 0) announce('A flow has one input and one output, so they are not pasted again.')
}

const cornerOf = ({ nodes, notes }: Clipping): Position => {
  const all = [...nodes.map((node) => positionOf(node) ?? { x: 0, y: 0 }), ...notes.map(({ position }) => position)]
  return { x: Math.min(...all.map(({ x }) => x)), y: Math.min(...all.map(({ y }) => y)) }
}

function movedTo(clipping: Clipping, at: Position): Position {
  const corner = cornerOf(clipping)
  return { x: at.x - corner.x, y: at.y - corner.y }
}

/** Next to the original, or in the middle of the canvas if that is not visible. */
function shownOffset(clipping: Clipping, flow: ReturnType<typeof useReactFlow>): Position {
  const canvas = document.querySelector('.flow-canvas')?.getBoundingClientRect() ?? new DOMRect()
  const corner = cornerOf(clipping)
  const { x, y } = flow.flowToScreenPosition({ x: corner.x + OFFSET.x, y: corner.y + OFFSET.y })
  if (x >= canvas.left && x <= canvas.right && y >= canvas.top && y <= canvas.bottom) return OFFSET
  const middle = flow.screenToFlowPosition({ x: canvas.x + canvas.width / 2, y: canvas.y + canvas.height / 2 })
  return movedTo(clipping, { x: middle.x - newNodeSize.width / 2, y: middle.y - newNodeSize.height / 2 })
}
