import { useSyncExternalStore } from 'react'
import { Toast } from '@base-ui/react/toast'

/** Toasts of finished actions. Screen readers read them, too. */
export const toastManager = Toast.createToastManager()

/** Shows what an action has done. */
export function announce(text: string): void {
  toastManager.add({ title: text })
}

// Changes that are on the screen anyway, for screen readers only.

let said = { text: '', count: 0 }
const readers = new Set<() => void>()

export function announceQuietly(text: string): void {
  said = { text, count: said.count + 1 }
  for (const read of readers) read()
}

/** The latest announcement. With its count as the key, a repeated text is new to the page and read again. */
export function useAnnouncement(): { text: string; count: number } {
  return useSyncExternalStore(
    (read) => {
      readers.add(read)
      return () => readers.delete(read)
    },
    () => said,
  )
}
