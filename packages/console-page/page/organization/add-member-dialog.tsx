import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { RoleField } from '../users/role-field.tsx'
import { tenantRoleLabels } from '../users/role-labels.ts'
import { useChange } from '../api/use-change.ts'
import { bodyOfMember, emptyMember, type MemberDraft } from './new-member.ts'
import { TextField } from '../components/text-field.tsx'

/** Adds a member by email or by the user ID shown on their account page. */
export function AddMemberDialog({ onClose }: { onClose: () => void }) {
  const { tenant } = useScope()
  const [draft, setDraft] = useState(emptyMember)
  const change = (part: Partial<MemberDraft>) => setDraft({ ...draft, ...part })
  const add = useChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/members', { params: { tenant }, body: bodyOfMember(draft) }),
    'Member added.',
  )
  return (
    <FormDialog title="Add member" submit="Add member" change={add} onClose={onClose}>
      <fieldset className="stack">
        <legend>Add by</legend>
        <label className="choice">
          <input type="radio" name="by" checked={draft.by === 'email'} onChange={() => change({ by: 'email' })} />
          Email
        </label>
        <label className="choice">
          <input type="radio" name="by" checked={draft.by === 'user'} onChange={() => change({ by: 'user' })} />
          User ID
        </label>
      </fieldset>
      {draft.by === 'user' ? (
        <TextField
          label="User ID"
          hint="Shown on their account page."
          required
          value={draft.user}
          onChange={(user) => change({ user })}
        />
      ) : (
        <>
          <TextField
            label="Email"
            type="email"
            required
            maxLength={254}
            value={draft.email}
            onChange={(email) => change({ email })}
          />
          <TextField
            label="Name"
            hint="For new users."
            maxLength={100}
            value={draft.name}
            onChange={(name) => change({ name })}
          />
          <TextField
            label="Initial password"
            type="password"
            autoComplete="new-password"
            hint="For new users who don't use single sign-on. They can change it later. At least 12 characters."
            minLength={12}
            maxLength={256}
            value={draft.password}
            onChange={(password) => change({ password })}
          />
        </>
      )}
      <RoleField words={tenantRoleLabels} value={draft.role} onChange={(role) => change({ role })} />
    </FormDialog>
  )
}
