import { useState, type FormEvent } from 'react'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
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
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <Dialog title="Add a webhook" onClose={onClose}>
      <form className="stack" onSubmit={onSubmit}>
        <Field label="Address" hint="On the public internet, by https. Every notice of the project is posted to it.">
          {(ids) => (
            <input
              {...ids}
              type="url"
              required
              maxLength={2048}
              placeholder="https://hooks.example.com/notices"
              value={url}
              onChange={({ target }) => setUrl(target.value)}
            />
          )}
        </Field>
        <RefusalBox error={create.error} />
        <div className="buttons">
          <button type="submit" className="button main" disabled={create.isPending}>
            {create.isPending ? 'Adding…' : 'Add the webhook'}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
