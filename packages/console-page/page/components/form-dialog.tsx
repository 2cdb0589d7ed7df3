import type { FormEvent, ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { RefusalBox } from './refusal-box.tsx'

/** A `useChange` mutation without arguments. */
interface Change<Made> {
  error: unknown
  isPending: boolean
  mutate: (asked: undefined, options: { onSuccess: (made: Made) => void }) => void
}

/** Dialog that submits one change, closes when it succeeds, and shows the error when it fails. */
export function FormDialog<Made>({
  title,
  submit,
  cancel = 'Cancel',
  isDanger = false,
  isReady = true,
  isFaulty = false,
  stays = false,
  change,
  onTry,
  onDone,
  onClose,
  children,
}: {
  title: string
  submit: string
  cancel?: string
  isDanger?: boolean
  isReady?: boolean
  /** The form has an error, shown after the first attempt; it isn't submitted. */
  isFaulty?: boolean
  stays?: boolean
  change: Change<Made>
  onTry?: () => void
  /** Called instead of `onClose` on success. */
  onDone?: (made: Made) => void
  onClose: () => void
  children: ReactNode
}) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    onTry?.()
    if (!isFaulty) change.mutate(undefined, { onSuccess: onDone ?? onClose })
  }
  return (
    <Dialog title={title} stays={stays} onClose={onClose}>
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
