import { useState } from 'react'
import type { WebhookRecord } from '@gateway/contracts/console/notices'
import { Copyable } from '../parts/copyable.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { signatureChecks } from './signature-checks.ts'

type Language = keyof typeof signatureChecks

/** What notices to an address are signed with, shown this once, and how a receiver checks it. Only its button closes it. */
export function SigningSecretDialog({
  made: { webhook, secret },
  onClose,
}: {
  made: { webhook: WebhookRecord; secret: string }
  onClose: () => void
}) {
  const [language, setLanguage] = useState<Language>('Node')
  return (
    <Dialog title="The signing secret" stays onClose={onClose}>
      <p className="notice">
        Copy it now: it is shown this once. Whoever has it can sign notices to <code>{webhook.url}</code>.
      </p>
      <Copyable text={secret} label="Copy the signing secret" />
      <div className="head">
        <h3>Check a signature</h3>
        <div className="buttons" role="group" aria-label="Language">
          {(Object.keys(signatureChecks) as Language[]).map((each) => (
            <button
              key={each}
              type="button"
              className="button small"
              aria-pressed={each === language}
              onClick={() => setLanguage(each)}
            >
              {each}
            </button>
          ))}
        </div>
      </div>
      <Copyable text={signatureChecks[language]} label="Copy the code" />
      <p className="soft small">
        Libraries of Standard Webhooks check it, too. A notice may come twice, with the same <code>webhook-id</code>.
      </p>
      <div className="buttons">
        <button type="button" className="button main" onClick={onClose}>
          I have copied it
        </button>
      </div>
    </Dialog>
  )
}
