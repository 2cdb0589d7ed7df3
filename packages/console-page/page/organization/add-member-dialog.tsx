import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { RoleField } from '../people/role-field.tsx'
import { tenantRoleWords } from '../people/role-words.ts'
import { useChange } from '../api/use-change.ts'
import { bodyOfMember, emptyMember, type MemberDraft } from './new-member.ts'
import { TextField } from '../parts/text-field.tsx'

/** Adds somebody, by e-mail or by the id that they see on their own account. */
export function AddMemberDialog({ onClose }: { onClose: () => void }) {
  const { tenant } = usePlace()
  const [draft, setDraft] = useState(emptyMember)
  const change = (part: Partial<MemberDraft>) => setDraft({ ...draft, ...part })
  const add = useChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/members', { params: { tenant }, body: bodyOfMember(draft) }),
    'They are a member now.',
  )
  return (
    <FormDialog title="Add a member" submit="Add them" change={add} onClose={onClose}>
      <fieldset className="stack">
        <legend>They are known by</legend>
        <label className="choice">
          <input type="radio" name="by" checked={draft.by === 'email'} onChange={() => change({ by: 'email' })} />
          Their e-mail
        </label>
        <label className="choice">
          <input type="radio" name="by" checked={draft.by === 'person'} onChange={() => change({ by: 'person' })} />
          Their id, which stands on their account
        </label>
      </fieldset>
      {draft.by === 'person' ? (
        <TextField label="Id" required value={draft.person} onChange={(person) => change({ person })} />
      ) : (
        <>
          <TextField
            label="E-mail"
            type="email"
            required
            maxLength={254}
            value={draft.email}
            onChange={(email) => change({ email })}
          />
          <TextField
            label="Name"
            hint="For somebody who is new here."
            maxLength={100}
            value={draft.name}
            onChange={(name) => change({ name })}
          />
          <TextField
            label="First password"
            type="password"
            autoComplete="new-password"
            hint="For somebody who is new here and does not sign in through a provider; they change it afterwards. At least 12 characters."
            minLength={12}
            maxLength={256}
            value={draft.password}
            onChange={(password) => change({ password })}
          />
        </>
      )}
      <RoleField words={tenantRoleWords} value={draft.role} onChange={(role) => change({ role })} />
    </FormDialog>
  )
}
