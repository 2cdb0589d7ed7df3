import type { MemberRecord } from '@gateway/api/console/people'
import { ask } from '../api/ask.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { StoppedKeys } from '../people/stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'
import { useOrganization } from './use-organization.ts'

/** Ends a membership, and says before what ends with it. */
export function RemoveMemberDialog({ of: { id, name }, onClose }: { of: MemberRecord; onClose: () => void }) {
  const { tenant, name: organization } = useOrganization()
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/members/{person}', { params: { tenant, person: id } }),
    `${name} is no member any more.`,
  )
  return (
    <FormDialog
      title={`Remove ${name}?`}
      submit="Remove them"
      cancel="Keep them"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>
        {name} sees nothing of {organization} any more, at once; their personal tokens can do nothing here. Their places
        in teams and their grants rest, and hold again if they are added again.
      </p>
      <StoppedKeys person={id} name={name} />
    </FormDialog>
  )
}
