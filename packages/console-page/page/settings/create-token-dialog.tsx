import { useState } from 'react'
import { TextField } from '../components/text-field.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useChange } from '../api/use-change.ts'
import { useOnce } from '../api/use-once.ts'
import type { TokenScope } from './token-scope.ts'
import { DEFAULT_DAYS, TokenDays } from './token-days.tsx'

/** Form for a new token, then its secret, shown once. */
export function CreateTokenDialog({ of, onClose }: { of: TokenScope; onClose: () => void }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState(DEFAULT_DAYS)
  const [permissions, setPermissions] = useState<string[]>([])
  const once = useOnce()
  const token = { name, expiresInDays: Number(days), permissions }
  const create = useChange(
    () => of.create(token, once(token)),
    "Token created. Copy the secret now: it won't be shown again.",
  )
  if (create.data)
    return (
      <SecretDialog
        title={`Secret for ${name}`}
        secret={create.data.secret}
        before={{ title: 'Token already created', resolution: create.data.resolution }}
        warning="Copy the token now: we can't show it again."
        copy="Copy token"
        onClose={onClose}
      />
    )
  const toggle = (permission: string, isChosen: boolean) =>
    setPermissions([...permissions.filter((each) => each !== permission), ...(isChosen ? [permission] : [])])
  return (
    <FormDialog
      title="Create token"
      submit="Create token"
      isReady={permissions.length > 0}
      change={create}
      onDone={() => {}}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="What the token is for, for example my laptop or CI."
        required
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <TokenDays days={days} onChange={setDays} />
      <fieldset className="stack">
        <legend>{of.label}</legend>
        <div className="choices">
          {Object.entries(of.permissions).map(([permission, text]) => (
            <label key={permission} className="choice">
              <input
                type="checkbox"
                checked={permissions.includes(permission)}
                onChange={({ target }) => toggle(permission, target.checked)}
              />
              <span>
                {text} <code className="soft">{permission}</code>
              </span>
            </label>
          ))}
        </div>
        {permissions.length === 0 && <span className="soft small">Select at least one.</span>}
      </fieldset>
    </FormDialog>
  )
}
