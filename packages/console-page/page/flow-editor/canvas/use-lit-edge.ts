import { useState, type SyntheticEvent } from 'react'

/** Key of the hovered or focused edge, and the event handlers for the element around the canvas. */
export function useLitEdge() {
  const [lit, setLit] = useState<string | null>(null)
  const look = ({ target }: SyntheticEvent) => {
    const edge = target instanceof Element ? target.closest('.react-flow__edge') : null
    setLit(edge?.getAttribute('data-id') ?? null)
  }
  return { lit, listening: { onPointerOver: look, onFocus: look, onPointerLeave: () => setLit(null) } }
}
