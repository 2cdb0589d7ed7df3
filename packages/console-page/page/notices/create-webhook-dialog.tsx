import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { TextField } from '../components/text-field.tsx'
import { SigningSecretDialog } from './signing-secret-dialog.tsx'
import { useWebhookChange } from './use-webhook-change.ts'
import { WEBHOOKS } from './notice-paths.ts'

/** Form for a new webhook, then its signing secret. */
export function CreateWebhookDialog({ onClose }: { onClose: () => void }) {
  const params = useScope()
  const [url, setUrl] = useState('')
  const create = useWebhookChange(
    () => ask('POST', WEBHOOKS, { params, body: { url } }),
    "Webhook added. Copy the signing secret now: it won't be shown again.",
  )
  if (create.data) return <SigningSecretDialog made={create.data} onClose={onClose} />
  return (
    <FormDialog title="Add webhook" submit="Add webhook" change={create} onDone={() => {}} onClose={onClose}>
      <TextField
        label="Endpoint URL"
        hint="A public https:// URL. Every alert of the project is posted to it."
        type="url"
        required
        maxLength={2048}
        placeholder="https://hooks.example.com/notices"
        value={url}
        onChange={setUrl}
      />
    </FormDialog>
  )
}
