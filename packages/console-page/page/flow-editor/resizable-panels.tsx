import { useEffect, useRef } from 'react'
import { Group, Panel, Separator, usePanelRef } from 'react-resizable-panels'
import { Area, WIDE, type Hosts, type Panels } from './editor-panels.tsx'
import { panelNames, panelSizes, type PanelName } from './data/panel-layout.ts'

/** The panels of a wide window, with handles between them. */
export function ResizablePanels({ panels, hosts }: { panels: Panels; hosts: Hosts }) {
  const handles = { palette: usePanelRef(), inspector: usePanelRef(), drawer: usePanelRef() }
  const { open, sizes } = panels
  useEffect(() => {
    for (const name of panelNames) {
      const panel = handles[name].current
      if (!panel || panel.isCollapsed() !== open[name]) continue
      if (open[name]) panel.resize(sizes.current[name])
      else panel.collapse()
    }
    // oxlint-disable-next-line react/exhaustive-deps -- the handles never change
  }, [open])
  const side = (name: PanelName) => (
    <Panel
      key={name}
      id={`flow-${name}`}
      panelRef={handles[name]}
      collapsible
      collapsedSize={panelSizes[name].collapsed}
      minSize={panelSizes[name].least}
      maxSize={panelSizes[name].most}
      defaultSize={open[name] ? sizes.current[name] : panelSizes[name].collapsed}
      groupResizeBehavior="preserve-pixel-size"
      className="flow-panel"
      onResize={({ inPixels }) => {
        // A size is reported late: what counts is whether the panel is collapsed now. In a window that has become
        // narrow, no one closed it: it only has no room until the other layout comes.
        const panel = handles[name].current
        if (panel && matchMedia(WIDE).matches) panels.onResized(name, inPixels, !panel.isCollapsed())
      }}
    >
      <Area host={hosts[name]} isClosed={!open[name] && panelSizes[name].collapsed === 0} />
    </Panel>
  )
  const handle = (name: PanelName) => (
    <Handle name={name} panels={panels} onReset={() => handles[name].current?.resize(panelSizes[name].standard)} />
  )
  return (
    <Group id="flow-columns" className="flow-columns">
      {side('palette')}
      {handle('palette')}
      <Panel id="flow-middle" minSize={320} className="flow-panel">
        <Group id="flow-rows" orientation="vertical">
          <Panel id="flow-canvas" minSize={160} className="flow-panel">
            <Area host={hosts.canvas} />
          </Panel>
          {handle('drawer')}
          {side('drawer')}
        </Group>
      </Panel>
      {handle('inspector')}
      {side('inspector')}
    </Group>
  )
}

const labels = {
  palette: 'Resize the node palette',
  inspector: 'Resize the inspector',
  drawer: 'Resize the details',
} as const

/** Handle of a panel: dragged, moved by arrow keys, closed and opened by Enter, or reset by a double click. */
function Handle({ name, panels, onReset }: { name: PanelName; panels: Panels; onReset: () => void }) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(
    () =>
      panels.watch(name, (pixels) => {
        const { collapsed, most } = panelSizes[name]
        const values = { now: Math.round(pixels), min: collapsed, max: most, text: `${Math.round(pixels)} pixels` }
        // The library leaves them out, and a separator that takes the focus needs them.
        for (const [value, of] of Object.entries(values))
          element.current?.setAttribute(`aria-value${value}`, String(of))
        element.current?.setAttribute('aria-controls', `flow-${name}`)
      }),
    // oxlint-disable-next-line react/exhaustive-deps -- `watch` never changes
    [name],
  )
  return (
    <Separator
      elementRef={element}
      className="flow-handle"
      aria-label={labels[name]}
      title="Drag to resize. Double-click to reset."
      disableDoubleClick
      onDoubleClick={onReset}
    />
  )
}
