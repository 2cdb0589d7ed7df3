import type { FormEvent, ReactNode } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'

/** As a mutation of `useChange` without anything asked. */
interface Change {
  error: unknown
  isPending: boolean
  mutate: (asked: undefined, options: { onSuccess: () => void }) => void
}

/** A dialog that does one thing once it is sent, closes when that is done, and shows here what was refused. */
export function FormDialog({
  title,
  submit,
  cancel = 'Cancel',
  isDanger = false,
  isReady = true,
  change,
  onDone,
  onClose,
  children,
}: {
  title: string
  submit: string
  cancel?: string
  isDanger?: boolean
  isReady?: boolean
  change: Change
  /** Instead of closing it. */
  onDone?: () => void
  onClose: () => void
  children: ReactNode
}) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(undefined, { onSuccess: onDone ?? onClose })
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={onSubmit}>
        {children}
        <RefusalBox error={change.error} />
        <div className="buttons">
          <button
            type="submit"
            className={`button main ${isDanger ? 'danger' : ''}`}
            disabled={change.isPending || !isReady}
          >
            {submit}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {cancel}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
