import { useEffect } from 'react'
import { clip, paste, readClipping } from '../core/clipping.ts'
import { removeNodes } from '../core/node-commands.ts'
import { useSession } from '../session.ts'
import { isTyping } from '../is-typing.ts'

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
