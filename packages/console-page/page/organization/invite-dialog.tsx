import { useState } from 'react'
import type { TenantRole } from '@gateway/api/console/fields'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { useOnce } from '../api/use-once.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { TextField } from '../components/text-field.tsx'
import { RoleField } from '../users/role-field.tsx'
import { tenantRoleLabels } from '../users/role-labels.ts'
import { InvitationLinkDialog, type ShownInvitation } from './invitation-link-dialog.tsx'

/** Invites an email. Shows the link if no mail carries it. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { tenant } = useScope()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<TenantRole>('Member')
  const [made, setMade] = useState<ShownInvitation | null>(null)
  const once = useOnce()
  const body = { email, role }
  const invite = useChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/invitations', { params: { tenant }, body, idempotencyKey: once(body) }),
    'Invitation created.',
    ['/api/v2/tenants/{tenant}/invitations'],
  )
  if (made) return <InvitationLinkDialog of={made} onClose={onClose} />
  return (
    <FormDialog title="Invite user" submit="Invite" change={invite} onDone={setMade} onClose={onClose}>
      <TextField
        label="Email"
        type="email"
        hint="They become a member when they accept."
        required
        maxLength={254}
        value={email}
        onChange={setEmail}
      />
      <RoleField words={tenantRoleLabels} value={role} onChange={setRole} />
    </FormDialog>
  )
}
