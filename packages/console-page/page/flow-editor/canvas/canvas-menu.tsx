import { Menu } from '@base-ui/react/menu'
import type { Position } from '../core/position.ts'

export interface MenuItem {
  label: string
  /** As shown; the canvas handles the key. */
  keys?: string
  act: () => void
}

/** Context menu at a point of the screen. It takes the focus, and gives it back when it closes. */
export function CanvasMenu({
  at: { x, y },
  groups,
  onClose,
}: {
  at: Position
  groups: readonly MenuItem[][]
  onClose: () => void
}) {
  const point = { getBoundingClientRect: () => new DOMRect(x, y, 0, 0) }
  return (
    <Menu.Root open modal={false} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Menu.Portal>
        <Menu.Positioner className="canvas-menu-place" anchor={point} side="bottom" align="start" sideOffset={2}>
          <Menu.Popup className="canvas-menu" aria-label="Canvas actions">
            {groups.map((items, n) => (
              <Menu.Group key={items[0]?.label ?? n} className="canvas-menu-group">
                {items.map(({ label, keys, act }) => (
                  <Menu.Item
                    key={label}
                    className="canvas-menu-item"
                    label={label}
                    onClick={() => {
                      onClose()
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
