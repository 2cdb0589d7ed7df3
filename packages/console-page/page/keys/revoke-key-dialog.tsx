import type { KeyRecord } from '@gateway/api/console/keys'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { Moment } from '../components/moment.tsx'
import { useKeyChange } from './use-key-change.ts'

/** Confirms revoking a key, which can't be undone. */
export function RevokeKeyDialog({ of: key, onClose }: { of: KeyRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const revoke = useKeyChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/revoke', { params: { tenant, key: key.id } }),
    `Key ${key.name} revoked.`,
  )
  return (
    <FormDialog title={`Revoke ${key.name}?`} submit="Revoke key" isDanger change={revoke} onClose={onClose}>
      <p>
        All further calls with <code>{key.prefix}…</code> are refused. This can't be undone.{' '}
        {key.lastUsedAt ? (
          <>
            Last used <Moment iso={key.lastUsedAt} />.
          </>
        ) : (
          'Never used.'
        )}
      </p>
    </FormDialog>
  )
}
