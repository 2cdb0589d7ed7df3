import { useState } from 'react'
import { useChange } from '../api/use-change.ts'
import { useOnce } from '../api/use-once.ts'
import { FormDialog } from './form-dialog.tsx'
import { TextField } from './text-field.tsx'

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
