import { useSyncExternalStore } from 'react'
import { Toast } from '@base-ui/react/toast'

/** Toasts of finished actions. Screen readers read them, too. */
export const toastManager = Toast.createToastManager()

/** Shows what an action has done. */
export function announce(text: string): void {
  toastManager.add({ title: text })
}

// Changes that are on the screen anyway, for screen readers only.

let said = ''
const readers = new Set<() => void>()

export function announceQuietly(text: string): void {
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
