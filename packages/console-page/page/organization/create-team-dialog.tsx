import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { FormDialog } from '../people/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'
import { useOnce } from '../people/use-once.ts'
import { TextField } from './text-field.tsx'

export function CreateTeamDialog({ onClose }: { onClose: () => void }) {
  const { tenant } = usePlace()
  const [name, setName] = useState('')
  const once = useOnce()
  const create = useChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/teams', {
        params: { tenant },
        body: { name },
        idempotencyKey: once({ name }),
      }),
    `The team ${name} is there.`,
  )
  return (
    <FormDialog title="Create a team" submit="Create it" change={create} onClose={onClose}>
      <TextField
        label="Name"
        hint="You become its Team Owner."
        required
        maxLength={100}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  )
}
