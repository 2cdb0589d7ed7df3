import type { WebhookRecord } from '@gateway/api/console/notices'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { WEBHOOK } from './notice-paths.ts'
import { useWebhookChange } from './use-webhook-change.ts'

/** Asks before what can't be undone, and says what stops. */
export function DeleteWebhookDialog({ of: { id, url }, onClose }: { of: WebhookRecord; onClose: () => void }) {
  const params = { ...usePlace(), webhook: id }
  const remove = useWebhookChange(() => ask('DELETE', WEBHOOK, { params }), 'The webhook is deleted.')
  return (
    <FormDialog
      title="Delete the webhook?"
      submit="Delete it"
      cancel="Keep it"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>
        Nothing is posted to <code>{url}</code> any more, what is on its way there is given up, and its signing secret
        is worth nothing. Notices are still listed here.
      </p>
    </FormDialog>
  )
}
