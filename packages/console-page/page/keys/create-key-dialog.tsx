import { useState, type FormEvent } from 'react'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { LimitFields } from './limit-fields.tsx'
import { bodyOfDraft, draftFaults, emptyDraft, type KeyDraft } from './new-key.ts'
import { newIdempotencyKey } from './new-idempotency-key.ts'
import { ResourceFields } from './resource-fields.tsx'
import { SecretDialog } from './secret-dialog.tsx'
import { useKeyChange } from './use-key-change.ts'

/** One form for a new key; then its secret. However often it is sent, one key is made. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const { tenant, project } = usePlace()
  const [draft, setDraft] = useState(emptyDraft)
  const [isTried, setTried] = useState(false)
  const [once, setOnce] = useState(newIdempotencyKey)
  const create = useKeyChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/keys', {
        params: { tenant },
        body: bodyOfDraft(project, draft),
        idempotencyKey: once,
      }),
    'The key is made. Its secret is shown this once.',
  )
  if (create.data) return <SecretDialog made={create.data} onClose={onClose} />
  const faults = draftFaults(draft)
  const change = (part: Partial<KeyDraft>) => {
    setDraft({ ...draft, ...part })
    setOnce(newIdempotencyKey()) // another body is another key
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (Object.keys(faults).length === 0) create.mutate()
  }
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <form className="stack" onSubmit={onSubmit}>
        <Field label="Name" hint="What it is for, such as: website, CI.">
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={100}
              autoComplete="off"
              value={draft.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
        <LimitFields draft={draft} fault={isTried ? faults.limit : undefined} onChange={change} />
        <ResourceFields
          chosen={draft.resources}
          fault={isTried ? faults.resources : undefined}
          onChange={(resources) => change({ resources })}
        />
        <RefusalBox error={create.error} />
        <div className="buttons">
          <button type="submit" className="button main" disabled={create.isPending}>
            {create.isPending ? 'Creating…' : 'Create the key'}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
