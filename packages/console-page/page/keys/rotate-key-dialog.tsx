import { useState } from 'react'
import type { KeyRecord } from '@gateway/api/console/keys'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { Field } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { KeySecretDialog } from './key-secret-dialog.tsx'
import { useKeyChange } from './use-key-change.ts'

const graces = [
  [0, 'at once'],
  [3_600, 'in an hour'],
  [86_400, 'in a day'],
] as const

/** Replaces the secret of a key; the old one may go on for a while. */
export function RotateKeyDialog({ of: { id, name }, onClose }: { of: KeyRecord; onClose: () => void }) {
  const { tenant } = usePlace()
  const [graceSeconds, setGraceSeconds] = useState<number>(0)
  const rotate = useKeyChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', {
        params: { tenant, key: id },
        body: { graceSeconds },
      }),
    `The key ${name} has a new secret.`,
  )
  if (rotate.data) return <KeySecretDialog made={rotate.data} onClose={onClose} />
  return (
    <FormDialog title={`Rotate ${name}`} submit="Rotate" change={rotate} onDone={() => {}} onClose={onClose}>
      <p>
        The replacement has the same project, models, limit and time to live, and shares its spending with the old key.
      </p>
      <Field label="The old secret stops working">
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
