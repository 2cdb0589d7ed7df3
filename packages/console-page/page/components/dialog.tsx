import { useEffect, useId, useRef, type ReactNode, type FormEvent, useState } from 'react'
import { RefusalBox } from './refusal-box.tsx'
import { useChange, useOnce } from '../api/queries.ts'
import { TextField } from './fields.tsx'

/**
 * Native modal dialog, open while mounted. It traps focus, closes on Escape, and then returns focus to the element that
 * had it, or to the screen's heading if that element is gone. With `stays`, only its buttons close it.
 */
export function Dialog({
  title,
  onClose,
  stays = false,
  children,
}: {
  title: string
  onClose: () => void
  stays?: boolean
  children: ReactNode
}) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = element.current
    const before = document.activeElement
    dialog?.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      else document.querySelector<HTMLElement>('main h1')?.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        if (!stays) onClose()
      }}
    >
      <div className="stack">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

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

/** Dialog that creates a record from a name alone. Submitting twice creates one record. */
export function CreateNamedDialog<Made>({
  title,
  hint,
  create,
  announcement,
  paths,
  onDone,
  onClose,
}: {
  title: string
  hint?: string
  create: (body: { name: string }, idempotencyKey: string) => Promise<Made>
  announcement: (name: string) => string
  /** Queries to reload; all of them if omitted. */
  paths?: readonly string[]
  /** Called instead of `onClose` once created. */
  onDone?: (made: Made) => void
  onClose: () => void
}) {
  const [name, setName] = useState('')
  const once = useOnce()
  const change = useChange(() => create({ name }, once({ name })), announcement(name), paths)
  return (
    <FormDialog title={title} submit={title} change={change} {...(onDone && { onDone })} onClose={onClose}>
      <TextField label="Name" {...(hint && { hint })} required maxLength={100} value={name} onChange={setName} />
    </FormDialog>
  )
}
