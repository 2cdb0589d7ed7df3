import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { useOnce } from '../api/use-once.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { TextField } from '../components/text-field.tsx'
import { LimitFields } from './limit-fields.tsx'
import { bodyOfDraft, draftFaults, emptyDraft, type KeyDraft } from './new-key.ts'
import { RateFields } from './rate-fields.tsx'
import { ResourceFields } from './resource-fields.tsx'
import { KeySecretDialog } from './key-secret-dialog.tsx'
import { useKeyChange } from './use-key-change.ts'

/** Form for a new key, then its secret. Submitting twice creates one key. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const { tenant, project } = useScope()
  const [draft, setDraft] = useState(emptyDraft)
  const [isTried, setTried] = useState(false)
  const once = useOnce()
  const body = bodyOfDraft(project, draft)
  const create = useKeyChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/keys', { params: { tenant }, body, idempotencyKey: once(body) }),
    "Key created. Copy the secret now: it won't be shown again.",
  )
  if (create.data) return <KeySecretDialog made={create.data} onClose={onClose} />
  const faults = draftFaults(draft)
  const isFaulty = Object.keys(faults).length > 0
  const change = (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part })
  return (
    <FormDialog
      title="Create key"
      submit="Create key"
      isFaulty={isFaulty}
      change={create}
      onTry={() => setTried(true)}
      onDone={() => {}}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="What the key is for, for example website or CI."
        required
        maxLength={100}
        value={draft.name}
        onChange={(name) => change({ name })}
      />
      <LimitFields draft={draft} fault={isTried ? faults.limit : undefined} onChange={change} />
      <RateFields draft={draft.rates} onChange={(part) => change({ rates: { ...draft.rates, ...part } })} />
      <ResourceFields
        chosen={draft.resources}
        fault={isTried ? faults.resources : undefined}
        onChange={(resources) => change({ resources })}
      />
    </FormDialog>
  )
}
