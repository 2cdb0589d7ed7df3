import type { KeyRecord } from '@gateway/contracts/console/keys'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Moment } from '../parts/moment.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { useKeyChange } from './use-key-change.ts'

/** Asks before what can't be undone, and says what stops working. */
export function RevokeKeyDialog({ of: key, onClose }: { of: KeyRecord; onClose: () => void }) {
  const { tenant } = usePlace()
  const revoke = useKeyChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/revoke', { params: { tenant, key: key.id } }),
    `The key ${key.name} is revoked.`,
  )
  return (
    <Dialog title={`Revoke ${key.name}?`} onClose={onClose}>
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
      <RefusalBox error={revoke.error} />
      <div className="buttons">
        <button
          type="button"
          className="button main danger"
          disabled={revoke.isPending}
          onClick={() => revoke.mutate(undefined, { onSuccess: onClose })}
        >
          Revoke it
        </button>
        <button type="button" className="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  )
}
