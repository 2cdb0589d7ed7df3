import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { LeaveQuestion } from './dialog.tsx'

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
    <LeaveQuestion title={title} onStay={reset} onLeave={proceed}>
      {children}
    </LeaveQuestion>
  )
}
