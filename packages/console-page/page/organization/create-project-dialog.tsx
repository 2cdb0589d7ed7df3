import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { Field } from '../components/field.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'
import { useOnce } from '../api/use-once.ts'
import { TextField } from '../components/text-field.tsx'
import { useOrganization, useTeams } from './use-organization.ts'

export function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const { tenant, teams: mine } = useOrganization()
  const teams = useTeams().data ?? []
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState('')
  const once = useOnce()
  const team = chosen || (mine[0]?.id ?? teams[0]?.id ?? '')
  const body = { name, team }
  const create = useChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/projects', { params: { tenant }, body, idempotencyKey: once(body) }),
    `Project ${name} created.`,
  )
  return (
    <FormDialog title="Create project" submit="Create project" isReady={team !== ''} change={create} onClose={onClose}>
      <TextField
        label="Name"
        hint="You become its Project Owner. Its wallet is empty until an operator adds funds."
        required
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <Field label="Team" hint="Owns the project permanently. Only its members can create keys for the project.">
        {(ids) => (
          <select {...ids} value={team} onChange={({ target }) => setChosen(target.value)}>
            {teams.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {teams.length === 0 && <p className="notice">Create a team first: every project belongs to a team.</p>}
    </FormDialog>
  )
}
