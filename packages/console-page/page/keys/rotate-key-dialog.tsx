import { useState } from 'react'
import type { KeyRecord } from '@gateway/api/console/keys'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { GraceField } from '../components/grace-field.tsx'
import { KeySecretDialog } from './key-secret-dialog.tsx'
import { useKeyChange } from './use-key-change.ts'

/** Replaces the secret of a key. The old secret can keep working for a grace period. */
export function RotateKeyDialog({ of: { id, name }, onClose }: { of: KeyRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const [graceSeconds, setGraceSeconds] = useState(0)
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
      <GraceField label="Old secret stops working" seconds={graceSeconds} onChange={setGraceSeconds} />
    </FormDialog>
  )
}
