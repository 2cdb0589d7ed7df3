import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { TextField } from '../components/text-field.tsx'
import { onThisHost } from '../sign-in/link-secret.ts'

/** Makes a link with which a user resets a forgotten password. */
export function ResetLinkDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [link, setLink] = useState<string | null>(null)
  const create = useChange(
    () => ask('POST', '/api/v2/password-resets', { params: {}, body: { email } }),
    'Reset link created.',
    [],
  )
  if (link !== null)
    return (
      <SecretDialog
        title={`Reset link for ${email}`}
        secret={link}
        warning="Copy this link now and send it to the user. It works once, for an hour, and is not shown again. It gives access to the account, so make sure that it reaches the right person."
        copy="Copy link"
        onClose={onClose}
      />
    )
  return (
    <FormDialog
      title="Create reset link"
      submit="Create link"
      change={create}
      onDone={(made) => setLink(onThisHost(made.link))}
      onClose={onClose}
    >
      <p>A reset ends all sessions and personal tokens of the user.</p>
      <TextField label="Email" type="email" required maxLength={254} value={email} onChange={setEmail} />
    </FormDialog>
  )
}
