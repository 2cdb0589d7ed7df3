import { useEffect, useRef, useState, useSyncExternalStore, type ComponentType, type ReactNode } from 'react'
import { createPortal, flushSync } from 'react-dom'
import { useReactFlow } from '@xyflow/react'
import { keepPanelLayout, panelNames, panelSizes, readPanelLayout, type PanelName } from './data/panel-layout.ts'

export type Panels = ReturnType<typeof usePanels>

/**
 * Which panels around the canvas are open, and their sizes in pixels, as this browser remembers them.
 * @param starting panels that the flow opens or closes, however they were left
 */
export function usePanels(starting: Partial<Record<PanelName, boolean>>) {
  const [first] = useState(() => readPanelLayout(localStorage, innerWidth))
  const [open, setOpen] = useState({ ...first.open, ...starting })
  const sizes = useRef(first.sizes)
  const latest = useRef(open)
  const [watchers] = useState(() => new Map<PanelName, (pixels: number) => void>())
  useEffect(() => {
    latest.current = open
    keepPanelLayout(localStorage, { open, sizes: sizes.current })
  }, [open])
  return {
    open,
    sizes,
    set: (name: PanelName, isOpen: boolean) =>
      setOpen((before) => (before[name] === isOpen ? before : { ...before, [name]: isOpen })),
    /** The panel has another size. Dragged below its least size, it is closed, and keeps the size it had. */
    onResized: (name: PanelName, pixels: number, isOpen: boolean) => {
      watchers.get(name)?.(pixels)
      if (isOpen && pixels >= panelSizes[name].least - 1)
        sizes.current = { ...sizes.current, [name]: Math.round(pixels) }
      keepPanelLayout(localStorage, { open: latest.current, sizes: sizes.current })
      if (latest.current[name] !== isOpen) setOpen((before) => ({ ...before, [name]: isOpen }))
    },
    /** Calls `onSize` now and for each later size. Returns a function that ends this. */
    watch: (name: PanelName, onSize: (pixels: number) => void) => {
      watchers.set(name, onSize)
      onSize(latest.current[name] ? sizes.current[name] : panelSizes[name].collapsed)
      return () => void watchers.delete(name)
    },
  }
}

/** Elements that the areas of the editor are rendered into. */
export type Hosts = Readonly<Record<PanelName | 'canvas', HTMLElement>>

/**
 * Canvas in the middle, palette and inspector at its sides, drawer below. In a narrow window they follow one another.
 * The areas are moved, and never rendered again, when the layout changes: nothing that was typed or scrolled is lost.
 */
export function EditorPanels({ panels, ...areas }: { panels: Panels } & Record<keyof Hosts, ReactNode>) {
  const [hosts] = useState(openHosts)
  const isWide = useIsWide()
  const Resizable = useResizable(isWide)
  useKeptCenter(hosts.canvas)
  return (
    <>
      {Resizable && isWide ? (
        <Resizable panels={panels} hosts={hosts} />
      ) : (
        <FixedPanels panels={panels} hosts={hosts} />
      )}
      {([...panelNames, 'canvas'] as const).map((name) => createPortal(areas[name], hosts[name], name))}
    </>
  )
}

function openHosts(): Hosts {
  const host = () => {
    const element = document.createElement('div')
    element.className = 'flow-area'
    return element
  }
  return { palette: host(), inspector: host(), drawer: host(), canvas: host() }
}

/** The focused elements of areas that are between two places. */
const takenAlong = new WeakMap<HTMLElement, HTMLElement>()

/** Place of an area. It takes the focus along when the area moves here. */
export function Area({ host, isClosed = false }: { host: HTMLElement; isClosed?: boolean }) {
  const place = (element: HTMLElement | null) => {
    if (!element) return undefined
    if (host.parentElement !== element) {
      element.append(host)
      takenAlong.get(host)?.focus({ preventScroll: true })
    }
    takenAlong.delete(host)
    return () => {
      // The place goes from the page after this, and the focus with it.
      const { activeElement } = document
      if (activeElement instanceof HTMLElement && host.contains(activeElement)) takenAlong.set(host, activeElement)
    }
  }
  return <div ref={place} className={`flow-place${isClosed ? ' closed' : ''}`} />
}

/** The panels without handles: in a narrow window, and until the handles are loaded. */
function FixedPanels({ panels: { open, sizes }, hosts }: { panels: Panels; hosts: Hosts }) {
  const size = (name: PanelName) => `${open[name] ? sizes.current[name] : panelSizes[name].collapsed}px`
  const columns = `${size('palette')} 1px minmax(0, 1fr) 1px ${size('inspector')}`
  return (
    <div className="flow-columns fixed" style={{ gridTemplateColumns: columns }}>
      <Area host={hosts.palette} isClosed={!open.palette} />
      <span className="flow-handle" />
      <div className="flow-rows" style={{ gridTemplateRows: `minmax(0, 1fr) 1px ${size('drawer')}` }}>
        <Area host={hosts.canvas} />
        <span className="flow-handle" />
        <Area host={hosts.drawer} />
      </div>
      <span className="flow-handle" />
      <Area host={hosts.inspector} isClosed={!open.inspector} />
    </div>
  )
}

type ResizablePanels = ComponentType<{ panels: Panels; hosts: Hosts }>
let loaded: ResizablePanels | null = null

/**
 * The panels with handles, once they are loaded. They are not needed to see a flow, or in a narrow window. They come
 * between two clicks: a browser gives no click to what moves while it is pressed.
 */
function useResizable(isWide: boolean): ResizablePanels | null {
  const [, setLoaded] = useState(loaded !== null)
  useEffect(() => {
    if (loaded || !isWide) return undefined
    let isPressed = false
    const watch = ({ type }: Event) => {
      isPressed = type === 'pointerdown'
      if (!isPressed) setTimeout(show) // the click comes first
    }
    let come: ResizablePanels | null = null
    const show = () => {
      if (isPressed || !come) return
      loaded = come
      flushSync(() => setLoaded(true)) // rendered later, they could come after the next press
    }
    for (const event of PRESSES) addEventListener(event, watch, true)
    void import('./resizable-panels.tsx').then(
      ({ ResizablePanels }) => {
        come = ResizablePanels
        show()
      },
      () => {}, // the fixed panels remain
    )
    return () => {
      come = null
      for (const event of PRESSES) removeEventListener(event, watch, true)
    }
  }, [isWide])
  return loaded
}

const PRESSES = ['pointerdown', 'pointerup', 'pointercancel'] as const

/** The window has room for panels at the sides of the canvas. */
export const WIDE = '(width >= 56.25rem)'

function useIsWide(): boolean {
  return useSyncExternalStore(
    (read) => {
      const query = matchMedia(WIDE)
      query.addEventListener('change', read)
      return () => query.removeEventListener('change', read)
    },
    () => matchMedia(WIDE).matches,
  )
}

/** Keeps the middle of the canvas in the middle while panels open, close and resize around it. */
function useKeptCenter(canvas: HTMLElement): void {
  const flow = useReactFlow()
  useEffect(() => {
    let before: { width: number; height: number } | null = null
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect
      if (width === 0 || height === 0) return
      if (before) {
        const { x, y, zoom } = flow.getViewport()
        void flow.setViewport({ x: x + (width - before.width) / 2, y: y + (height - before.height) / 2, zoom })
      }
      before = { width, height }
    })
    observer.observe(canvas)
    return () => observer.disconnect()
  }, [flow, canvas])
}
