import { Menu } from '@base-ui/react/menu'
import { useRef } from 'react'
import type { Position } from '../core/position.ts'

export interface MenuItem {
  label: string
  /** As shown; the canvas handles the key. */
  keys?: string
  act: () => void
  /** The action opens something that takes the focus. */
  opens?: boolean
}

/** Context menu at a point of the screen. It takes the focus, and gives it back to an element when it closes. */
export function CanvasMenu({
  at: { x, y },
  from,
  groups,
  onClose,
}: {
  at: Position
  from: HTMLElement | SVGElement | null
  groups: readonly MenuItem[][]
  onClose: () => void
}) {
  const hasOpened = useRef(false)
  const point = { getBoundingClientRect: () => new DOMRect(x, y, 0, 0) }
  return (
    <Menu.Root open modal={false} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Menu.Portal>
        <Menu.Positioner className="canvas-menu-place" anchor={point} side="bottom" align="start" sideOffset={2}>
          <Menu.Popup
            className="canvas-menu"
            aria-label="Canvas actions"
            finalFocus={() => {
              if (!hasOpened.current) from?.focus()
              return false
            }}
          >
            {groups.map((items, n) => (
              <Menu.Group key={items[0]?.label ?? n} className="canvas-menu-group">
                {items.map(({ label, keys, act, opens = false }) => (
                  <Menu.Item
                    key={label}
                    className="canvas-menu-item"
                    label={label}
                    onClick={() => {
                      hasOpened.current = opens
                      act()
                    }}
                  >
                    <span>{label}</span>
                    {keys !== undefined && <kbd aria-hidden="true">{keys}</kbd>}
                  </Menu.Item>
                ))}
              </Menu.Group>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
