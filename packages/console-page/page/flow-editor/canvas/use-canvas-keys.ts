import { useEffect, useRef } from 'react'
import { disconnect, removeNodes } from '../core/node-commands.ts'
import { nodeKeys } from '../core/node-keys.ts'
import { edgeKey } from '../core/edges.ts'
import { useSession } from '../session.ts'
import type { Editor } from '../state/open-editor.ts'
import { announce } from '../../frame/announcer.ts'
import { isTyping } from '../is-typing.ts'

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
