import { useEffect } from 'react'
import { useSession } from './session.ts'
import { isTyping } from './is-typing.ts'

/** Ctrl+S saves anywhere. Ctrl+Z and Ctrl+Shift+Z undo and redo, except in text fields, which have their own undo. */
export function useEditorKeys(save: () => void): void {
  const { editor } = useSession()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return
      const key = event.key.toLowerCase()
      const isHistory = ['z', 'y'].includes(key)
      if (key !== 's' && !(isHistory && !isTyping(event.target))) return
      event.preventDefault()
      if (key === 's') save()
      else if (key === 'y' || event.shiftKey) editor.redo()
      else editor.undo()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [editor, save])
}
