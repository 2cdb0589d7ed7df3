import { useSyncExternalStore } from 'react'

// Live region announcements of changes that happen in the background or far from the focus.

let said = ''
const readers = new Set<() => void>()

export function announce(text: string): void {
  said = text
  for (const read of readers) read()
}

export function useAnnouncement(): string {
  return useSyncExternalStore(
    (read) => {
      readers.add(read)
      return () => readers.delete(read)
    },
    () => said,
  )
}
