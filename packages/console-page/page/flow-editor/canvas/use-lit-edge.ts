import { useState, type SyntheticEvent } from 'react'

/** The edge that the pointer or the focus is on, by its key. @returns what the element around the canvas listens with */
export function useLitEdge() {
  const [lit, setLit] = useState<string | null>(null)
  const look = ({ target }: SyntheticEvent) => {
    const edge = target instanceof Element ? target.closest('.react-flow__edge') : null
    setLit(edge?.getAttribute('data-id') ?? null)
  }
  return { lit, listening: { onPointerOver: look, onFocus: look, onPointerLeave: () => setLit(null) } }
}
