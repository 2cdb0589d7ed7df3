import { useState } from 'react'
import type { WebhookRecord } from '@gateway/api/console/notices'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { GraceField } from '../components/grace-field.tsx'
import { ROTATE_WEBHOOK } from './notice-paths.ts'
import { SigningSecretDialog } from './signing-secret-dialog.tsx'
import { useWebhookChange } from './use-webhook-change.ts'

/** Replaces the signing secret of a webhook, then shows the new one. */
export function RotateWebhookDialog({ of: { id, url }, onClose }: { of: WebhookRecord; onClose: () => void }) {
  const params = { ...useScope(), webhook: id }
  const [graceSeconds, setGraceSeconds] = useState(86_400)
  const rotate = useWebhookChange(
    () => ask('POST', ROTATE_WEBHOOK, { params, body: { graceSeconds } }),
    "Signing secret rotated. Copy the new one now: it won't be shown again.",
  )
  if (rotate.data) return <SigningSecretDialog made={rotate.data} onClose={onClose} />
  return (
    <FormDialog
      title="Rotate signing secret"
      submit="Rotate secret"
      change={rotate}
      onDone={() => {}}
      onClose={onClose}
    >
      <p>
        Alerts to <code>{url}</code> are signed with a new secret. Until the old one stops signing, each alert has both
        signatures, so no delivery is lost while you install the new secret.
      </p>
      <GraceField label="Old secret stops signing" seconds={graceSeconds} onChange={setGraceSeconds} />
    </FormDialog>
  )
}
