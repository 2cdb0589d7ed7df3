import type { WebhookRecord } from '@gateway/api/console/notices'
import { CodeChoice, SecretDialog } from '../components/secret-dialog.tsx'
import { signatureChecks } from './signature-checks.ts'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/session.ts'
import { FormDialog } from '../components/dialog.tsx'
import { WEBHOOK, useWebhookChange } from './notice-link.tsx'

/** The signing secret of a webhook, and code that verifies a signature. */
export function SigningSecretDialog({
  made: { webhook, secret },
  onClose,
}: {
  made: { webhook: WebhookRecord; secret: string }
  onClose: () => void
}) {
  return (
    <SecretDialog
      title="Signing secret"
      secret={secret}
      warning={
        <>
          Copy the secret now: we can't show it again. Anyone who has it can sign alerts to <code>{webhook.url}</code>.
        </>
      }
      copy="Copy signing secret"
      onClose={onClose}
    >
      <CodeChoice title="Verify a signature" label="Language" copy="Copy code" of={signatureChecks} />
      <p className="soft small">
        Standard Webhooks libraries work too. An alert may be delivered twice, with the same <code>webhook-id</code>.
      </p>
    </SecretDialog>
  )
}

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
