import type { WebhookRecord } from '@gateway/contracts/console/notices'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { Dialog } from '../parts/dialog.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { useWebhookChange } from './use-webhook-change.ts'

/** Asks before what can't be undone, and says what stops. */
export function DeleteWebhookDialog({ of: { id, url }, onClose }: { of: WebhookRecord; onClose: () => void }) {
  const params = { ...usePlace(), webhook: id }
  const remove = useWebhookChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/projects/{project}/webhooks/{webhook}', { params }),
    'The webhook is deleted.',
  )
  return (
    <Dialog title="Delete the webhook?" onClose={onClose}>
      <p>
        Nothing is posted to <code>{url}</code> any more, what is on its way there is given up, and its signing secret
        is worth nothing. Notices are still listed here.
      </p>
      <RefusalBox error={remove.error} />
      <div className="buttons">
        <button
          type="button"
          className="button main danger"
          disabled={remove.isPending}
          onClick={() => remove.mutate(undefined, { onSuccess: onClose })}
        >
          Delete it
        </button>
        <button type="button" className="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  )
}
