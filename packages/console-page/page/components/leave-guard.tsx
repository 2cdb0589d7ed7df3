import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'

/** Confirms leaving a screen with unsaved changes, or with work in progress. */
export function LeaveGuard({
  isUnsaved,
  isLost = isUnsaved,
  title = 'Unsaved changes',
  children,
}: {
  isUnsaved: boolean
  /** Whether closing the page loses them: the browser then asks, too. */
  isLost?: boolean
  title?: string
  /** What becomes of the changes. */
  children: ReactNode
}) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname,
    enableBeforeUnload: () => isLost,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <Dialog title={title} onClose={reset}>
      <p>{children}</p>
      <div className="buttons">
        <button type="button" className="button main" onClick={reset}>
          Stay
        </button>
        <button type="button" className="button" onClick={proceed}>
          Leave
        </button>
      </div>
    </Dialog>
  )
}
