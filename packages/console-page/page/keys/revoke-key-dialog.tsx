import type { KeyRecord } from '@gateway/api/console/keys'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Moment } from '../parts/moment.tsx'
import { useKeyChange } from './use-key-change.ts'

/** Asks before what can't be undone, and says what stops working. */
export function RevokeKeyDialog({ of: key, onClose }: { of: KeyRecord; onClose: () => void }) {
  const { tenant } = usePlace()
  const revoke = useKeyChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/revoke', { params: { tenant, key: key.id } }),
    `The key ${key.name} is revoked.`,
  )
  return (
    <FormDialog
      title={`Revoke ${key.name}?`}
      submit="Revoke it"
      cancel="Keep it"
      isDanger
      change={revoke}
      onClose={onClose}
    >
      <p>
        Every call with <code>{key.prefix}…</code> is refused from the next one on, for ever.{' '}
        {key.lastUsedAt ? (
          <>
            It was last used <Moment iso={key.lastUsedAt} />.
          </>
        ) : (
          'It was never used.'
        )}
      </p>
    </FormDialog>
  )
}
