import { useState } from 'react'
import { TextField } from '../parts/text-field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { useChange } from '../api/use-change.ts'
import { useOnce } from '../api/use-once.ts'
import type { TokenPlace } from './token-place.ts'
import { DEFAULT_DAYS, TokenDays } from './token-days.tsx'

/** One form for a new token; then its secret, this once. */
export function CreateTokenDialog({ of, onClose }: { of: TokenPlace; onClose: () => void }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState(DEFAULT_DAYS)
  const [permissions, setPermissions] = useState<string[]>([])
  const once = useOnce()
  const token = { name, expiresInDays: Number(days), permissions }
  const create = useChange(() => of.create(token, once(token)), 'The token is made. Its secret is shown this once.')
  if (create.data)
    return (
      <SecretDialog
        title={`The secret of ${name}`}
        secret={create.data.secret}
        before={{ title: 'The token was made before', resolution: create.data.resolution }}
        warning="Copy it now: it is shown this once and kept nowhere."
        copy="Copy the token"
        onClose={onClose}
      />
    )
  const toggle = (permission: string, isChosen: boolean) =>
    setPermissions([...permissions.filter((each) => each !== permission), ...(isChosen ? [permission] : [])])
  return (
    <FormDialog
      title="Create a token"
      submit="Create the token"
      isReady={of.permissions === null || permissions.length > 0}
      change={create}
      onDone={() => {}}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="What it is for, such as: my laptop, CI."
        required
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <TokenDays days={days} onChange={setDays} />
      {of.permissions && (
        <fieldset className="stack">
          <legend>The token may</legend>
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
          {permissions.length === 0 && <span className="soft small">Choose at least one.</span>}
        </fieldset>
      )}
    </FormDialog>
  )
}
