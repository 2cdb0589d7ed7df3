import type { MemberRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { StoppedKeys } from '../users/stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'
import { useOrganization } from './use-organization.ts'

/** Confirms removing a member and lists the keys that stop working. */
export function RemoveMemberDialog({ of: { id, name }, onClose }: { of: MemberRecord; onClose: () => void }) {
  const { tenant, name: organization } = useOrganization()
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/members/{user}', { params: { tenant, user: id } }),
    `${name} removed.`,
  )
  return (
    <FormDialog title={`Remove ${name}?`} submit="Remove member" isDanger change={remove} onClose={onClose}>
      <p>
        {name} immediately loses access to {organization}, including with personal tokens. Their team memberships and
        grants are suspended and take effect again if you add them back.
      </p>
      <StoppedKeys user={id} name={name} />
    </FormDialog>
  )
}
