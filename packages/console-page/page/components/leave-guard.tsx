import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { LeaveQuestion } from './dialog.tsx'

/** Confirms leaving a screen with unsaved changes, with work in progress, or with a dialog. */
export function LeaveGuard({
  isUnsaved,
  isLost = isUnsaved,
  inDialog = false,
  title = 'Unsaved changes',
  children,
}: {
  isUnsaved: boolean
  /** Whether closing the page loses them: the browser then asks, too. */
  isLost?: boolean
  /** A change of the search alone asks, too, because it may close a dialog. */
  inDialog?: boolean
  title?: string
  /** What becomes of the changes. */
  children: ReactNode
}) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && (inDialog || current.pathname !== next.pathname),
    enableBeforeUnload: () => isLost,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <LeaveQuestion title={title} onStay={reset} onLeave={proceed}>
      {children}
    </LeaveQuestion>
  )
}

/** Confirms leaving a dialog with what can't be shown again. */
export function ShownOnceGuard() {
  return (
    <LeaveGuard isUnsaved inDialog title="Shown only once">
      We can't show this again. Copy it before you leave.
    </LeaveGuard>
  )
}
