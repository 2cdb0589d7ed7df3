import { useState } from 'react'
import type { KeyRecord } from '@gateway/api/console/keys'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { Field } from '../components/field.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { KeySecretDialog } from './key-secret-dialog.tsx'
import { useKeyChange } from './use-key-change.ts'

const graces = [
  [0, 'Immediately'],
  [3_600, 'In 1 hour'],
  [86_400, 'In 24 hours'],
] as const

/** Replaces the secret of a key. The old secret can keep working for a grace period. */
export function RotateKeyDialog({ of: { id, name }, onClose }: { of: KeyRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const [graceSeconds, setGraceSeconds] = useState<number>(0)
  const rotate = useKeyChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', {
        params: { tenant, key: id },
        body: { graceSeconds },
      }),
    `New secret created for ${name}.`,
  )
  if (rotate.data) return <KeySecretDialog made={rotate.data} onClose={onClose} />
  return (
    <FormDialog title={`Rotate ${name}`} submit="Rotate key" change={rotate} onDone={() => {}} onClose={onClose}>
      <p>The replacement keeps the project, access, limit and lifetime, and shares its spending with the old key.</p>
      <Field label="Old secret stops working">
        {(ids) => (
          <select {...ids} value={graceSeconds} onChange={({ target }) => setGraceSeconds(Number(target.value))}>
            {graces.map(([seconds, text]) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  )
}
