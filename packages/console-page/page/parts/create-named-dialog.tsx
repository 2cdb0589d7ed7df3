import { useState } from 'react'
import { useChange } from '../api/use-change.ts'
import { useOnce } from '../api/use-once.ts'
import { FormDialog } from './form-dialog.tsx'
import { TextField } from './text-field.tsx'

/** Makes what needs nothing but a name. However often it is sent, one is made. */
export function CreateNamedDialog<Made>({
  title,
  hint,
  create,
  said,
  paths,
  onDone,
  onClose,
}: {
  title: string
  hint?: string
  create: (body: { name: string }, idempotencyKey: string) => Promise<Made>
  said: (name: string) => string
  /** What it is seen in; left out: all that is shown. */
  paths?: readonly string[]
  /** Instead of closing it. */
  onDone?: (made: Made) => void
  onClose: () => void
}) {
  const [name, setName] = useState('')
  const once = useOnce()
  const change = useChange(() => create({ name }, once({ name })), said(name), paths)
  return (
    <FormDialog title={title} submit="Create it" change={change} {...(onDone && { onDone })} onClose={onClose}>
      <TextField label="Name" {...(hint && { hint })} required maxLength={100} value={name} onChange={setName} />
    </FormDialog>
  )
}
