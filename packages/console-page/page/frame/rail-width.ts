import { useState } from 'react'
import { useLocation } from '@tanstack/react-router'

// Whether the rail shows icons only, as the user left it in this browser. The flow editor needs the room, so it has a
// separate setting, and starts narrow.

/** Returns whether the rail is narrow here, and how to change that. */
export function useRailWidth(): [isNarrow: boolean, change: (isNarrow: boolean) => void] {
  const { pathname } = useLocation()
  const isEditor = /\/flows\/[^/]+$/.test(pathname)
  const name = isEditor ? 'console-rail-of-editor' : 'console-rail'
  const [, setChanged] = useState(0)
  const isNarrow = (localStorage.getItem(name) ?? (isEditor ? 'narrow' : 'wide')) === 'narrow'
  const change = (next: boolean) => {
    localStorage.setItem(name, next ? 'narrow' : 'wide')
    setChanged((count) => count + 1)
  }
  return [isNarrow, change]
}
