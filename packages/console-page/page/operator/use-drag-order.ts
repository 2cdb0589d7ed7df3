import { useEffect, useRef, useState, type PointerEvent, type RefObject } from 'react'
import { movedItems, placeAt } from './provider-order.ts'

interface Drag {
  from: number
  to: number
  /** Vertical middles of the rows when the drag began: they move while it lasts. */
  middles: readonly number[]
}

/**
 * Reorders the children of a list by dragging a handle, with a mouse, a pen or a finger. The order is a preview until the
 * pointer is released; Escape drops it.
 */
export function useDragOrder(list: RefObject<HTMLElement | null>, onMove: (from: number, to: number) => void) {
  const [drag, setDrag] = useState<Drag | null>(null)
  const latest = useRef({ drag, onMove })
  latest.current = { drag, onMove }
  const isDragging = drag !== null
  useEffect(() => {
    if (!isDragging) return
    const follow = ({ clientY }: globalThis.PointerEvent) =>
      setDrag((now) => now && { ...now, to: placeAt(clientY, now.middles, now.from) })
    const drop = () => {
      const { drag: now, onMove: move } = latest.current
      setDrag(null)
      if (now && now.from !== now.to) move(now.from, now.to)
    }
    const cancel = () => setDrag(null)
    const onKeyDown = ({ key }: KeyboardEvent) => key === 'Escape' && cancel()
    // On the document: a row that is reordered leaves the tree for a moment and would lose the pointer.
    document.addEventListener('pointermove', follow)
    document.addEventListener('pointerup', drop)
    document.addEventListener('pointercancel', cancel)
    document.addEventListener('keydown', onKeyDown)
    return () => {
      document.removeEventListener('pointermove', follow)
      document.removeEventListener('pointerup', drop)
      document.removeEventListener('pointercancel', cancel)
      document.removeEventListener('keydown', onKeyDown)
    }
  }, [isDragging])
  return {
    /** Index of the dragged row, or null. */
    dragged: drag?.from ?? null,
    /** Items as shown during a drag, each with its index before it. */
    preview<Item>(items: readonly Item[]): { item: Item; at: number }[] {
      const shown = items.map((item, at) => ({ item, at }))
      return drag ? movedItems(shown, drag.from, drag.to) : shown
    },
    begin: (from: number) => (event: PointerEvent) => {
      if (event.button !== 0 || !list.current) return
      event.preventDefault() // no selection of text
      const middles = [...list.current.children].map((row) => {
        const { top, height } = row.getBoundingClientRect()
        return top + height / 2
      })
      setDrag({ from, to: from, middles })
    },
  }
}
