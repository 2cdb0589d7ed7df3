import { lazy, Suspense, useEffect, useState } from 'react'
import { isTyping } from '../flow-editor/is-typing.ts'
import { IconButton } from '../components/icon-button.tsx'

// Both dialogs load on demand.
const dialogs = {
  palette: lazy(async () => ({ default: (await import('./palette-dialog.tsx')).PaletteDialog })),
  shortcuts: lazy(async () => ({ default: (await import('./shortcuts-dialog.tsx')).ShortcutsDialog })),
}

/** Opens the palette, as do Ctrl+K and Cmd+K on every screen. `?` opens the list of shortcuts. */
export function PaletteButton() {
  const [opened, setOpened] = useState<keyof typeof dialogs | null>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const asked = askedBy(event)
      // A shortcut must not open on top of a dialog.
      if (asked === null || document.querySelector('.dialog')) return
      event.preventDefault()
      setOpened(asked)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  const Opened = opened && dialogs[opened]
  return (
    <>
      <IconButton
        icon="search"
        label="Search and commands"
        tip="Search and commands (Ctrl K)"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpened('palette')}
      />
      {Opened && (
        <Suspense>
          <Opened onClose={() => setOpened(null)} />
        </Suspense>
      )}
    </>
  )
}

function askedBy(event: KeyboardEvent): keyof typeof dialogs | null {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') return 'palette'
  return event.key === '?' && !isTyping(event.target) ? 'shortcuts' : null
}
