import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { TextField } from '../parts/text-field.tsx'
import { SigningSecretDialog } from './signing-secret-dialog.tsx'
import { useWebhookChange } from './use-webhook-change.ts'
import { WEBHOOKS } from './notice-paths.ts'

/** The form for another address; then the secret that its notices are signed with. */
export function CreateWebhookDialog({ onClose }: { onClose: () => void }) {
  const params = usePlace()
  const [url, setUrl] = useState('')
  const create = useWebhookChange(
    () => ask('POST', WEBHOOKS, { params, body: { url } }),
    'The webhook is added. Its signing secret is shown this once.',
  )
  if (create.data) return <SigningSecretDialog made={create.data} onClose={onClose} />
  return (
    <FormDialog title="Add a webhook" submit="Add the webhook" change={create} onDone={() => {}} onClose={onClose}>
      <TextField
        label="Address"
        hint="On the public internet, by https. Every notice of the project is posted to it."
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
