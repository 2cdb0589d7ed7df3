import type { WebhookRecord } from '@gateway/api/console/notices'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { WEBHOOK } from './notice-paths.ts'
import { useWebhookChange } from './use-webhook-change.ts'

/** Confirms deleting a webhook, which can't be undone. */
export function DeleteWebhookDialog({
  of: { id, url },
  onDone,
  onClose,
}: {
  of: WebhookRecord
  /** Called instead of `onClose` on success. */
  onDone?: () => void
  onClose: () => void
}) {
  const params = { ...useScope(), webhook: id }
  const remove = useWebhookChange(() => ask('DELETE', WEBHOOK, { params }), 'Webhook deleted.')
  return (
    <FormDialog
      title="Delete webhook?"
      submit="Delete webhook"
      isDanger
      change={remove}
      onDone={onDone ?? onClose}
      onClose={onClose}
    >
      <p>
        Alerts are no longer posted to <code>{url}</code>, pending deliveries are dropped, and its signing secret
        becomes invalid. Alerts are still listed here.
      </p>
    </FormDialog>
  )
}
