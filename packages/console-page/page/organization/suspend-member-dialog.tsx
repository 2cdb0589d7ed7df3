import type { MemberRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { StoppedKeys } from '../users/stopped-keys.tsx'
import { useOrganization } from './use-organization.ts'

/** Confirms suspending a member, or resuming a suspended one. */
export function SuspendMemberDialog({ of, onClose }: { of: MemberRecord; onClose: () => void }) {
  const { id, name, suspendedAt } = of
  const { tenant, name: organization } = useOrganization()
  const isSuspended = suspendedAt !== null
  const path = `/api/v2/tenants/{tenant}/members/{user}/${isSuspended ? 'resume' : 'suspend'}` as const
  const change = useChange(
    () => ask('POST', path, { params: { tenant, user: id } }),
    isSuspended ? `${name} resumed.` : `${name} suspended.`,
  )
  return isSuspended ? (
    <FormDialog title={`Resume ${name}?`} submit="Resume member" change={change} onClose={onClose}>
      <p>
        {name} gets access to {organization} again, with the same roles. Their API keys work again.
      </p>
    </FormDialog>
  ) : (
    <FormDialog title={`Suspend ${name}?`} submit="Suspend member" isDanger change={change} onClose={onClose}>
      <p>
        {name} immediately loses access to {organization}, including with personal tokens, until you resume them. Their
        roles and grants don't change.
      </p>
      <StoppedKeys user={id} name={name} />
    </FormDialog>
  )
}
