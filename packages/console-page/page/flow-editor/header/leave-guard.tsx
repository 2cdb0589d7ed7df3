import { useBlocker } from '@tanstack/react-router'
import { Dialog } from '../../components/dialog.tsx'

/** Confirms leaving with unsaved changes. The browser confirms closing the page if they could not be stored. */
export function LeaveGuard({ isUnsaved, isKept }: { isUnsaved: boolean; isKept: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname,
    enableBeforeUnload: () => isUnsaved && !isKept,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <Dialog title="Unsaved changes" onClose={reset}>
      <p>
        {isKept
          ? 'Your changes are kept in this browser until you come back. No one else can see them.'
          : 'This browser could not keep your changes. They are lost if you leave.'}
      </p>
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
