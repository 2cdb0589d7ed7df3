import { useState, type PointerEvent } from 'react'
import type { Step } from '../pure/usage-stacks.ts'
import { stepAt, zoomOf, type Zoom } from '../pure/usage-zoom.ts'

/** Pointer travel that starts a drag, in pixels, so that a click doesn't zoom. */
const LEAST_PX = 5

interface Drawing {
  startX: number
  one: number
  other: number
  isDrawn: boolean
}

/** Drag selection of steps; releasing the pointer zooms in. */
export function useDrawnZoom(steps: Step[], end: string, onZoom: (zoom: Zoom) => void) {
  const [drawing, setDrawing] = useState<Drawing | null>(null)
  const handlers = {
    onPointerDown(event: PointerEvent<SVGSVGElement>) {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      const at = placeOf(event, steps.length)
      setDrawing({ startX: event.clientX, one: at, other: at, isDrawn: false })
    },
    onPointerMove(event: PointerEvent<SVGSVGElement>) {
      if (!drawing) return
      const isDrawn = drawing.isDrawn || Math.abs(event.clientX - drawing.startX) >= LEAST_PX
      setDrawing({ ...drawing, other: placeOf(event, steps.length), isDrawn })
    },
    onPointerUp() {
      setDrawing(null)
      if (drawing?.isDrawn) onZoom(zoomOf(steps, end, drawing.one, drawing.other))
    },
    onPointerCancel: () => setDrawing(null),
  }
  const drawn = drawing?.isDrawn
    ? { first: Math.min(drawing.one, drawing.other), last: Math.max(drawing.one, drawing.other) }
    : null
  return { drawn, handlers }
}

function placeOf({ currentTarget, clientX }: PointerEvent<SVGSVGElement>, count: number): number {
  const { left, width } = currentTarget.getBoundingClientRect()
  return stepAt((clientX - left) / width, count)
}
