import type { WebhookRecord } from '@gateway/api/console/notices'
import { CodeChoice } from '../parts/code-choice.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { signatureChecks } from './signature-checks.ts'

/** What notices to an address are signed with, and how a receiver checks it. */
export function SigningSecretDialog({
  made: { webhook, secret },
  onClose,
}: {
  made: { webhook: WebhookRecord; secret: string }
  onClose: () => void
}) {
  return (
    <SecretDialog
      title="The signing secret"
      secret={secret}
      warning={
        <>
          Copy it now: it is shown this once. Whoever has it can sign notices to <code>{webhook.url}</code>.
        </>
      }
      copy="Copy the signing secret"
      onClose={onClose}
    >
      <CodeChoice title="Check a signature" label="Language" copy="Copy the code" of={signatureChecks} />
      <p className="soft small">
        Libraries of Standard Webhooks check it, too. A notice may come twice, with the same <code>webhook-id</code>.
      </p>
    </SecretDialog>
  )
}
