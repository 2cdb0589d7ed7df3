import type { WebhookRecord } from '@gateway/api/console/notices'
import { CodeChoice } from '../components/code-choice.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { signatureChecks } from './signature-checks.ts'

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
