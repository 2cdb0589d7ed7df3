import { useState, type FormEvent } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { readingSignInMethods } from '../api/session.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { NewPasswordField, TextField } from '../components/fields.tsx'
import { Screen } from '../frame/screen.tsx'
import { secretInAddress } from './link-secret.ts'

/** Asks for a link to reset a password, or uses the one that opened the page. */
export function ResetScreen() {
  const secret = secretInAddress(useLocation().hash)
  const { data } = useQuery(readingSignInMethods)
  return (
    <Screen title="Reset password">
      {secret !== null && <NewPasswordForm key={secret} secret={secret} />}
      {secret === null && data?.sendsMail === true && <RequestForm />}
      {secret === null && data?.sendsMail === false && (
        <p>Ask the platform operator for a link to reset your password.</p>
      )}
      <p>
        <Link to="/">Go to sign-in</Link>
      </p>
    </Screen>
  )
}

function RequestForm() {
  const [email, setEmail] = useState('')
  const request = useMutation({
    mutationFn: () => ask('POST', '/api/v2/session/reset', { params: {}, body: { email } }),
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    request.mutate()
  }
  if (request.isSuccess)
    return (
      <p role="status">
        If there is an account for {email}, a mail with a link is on its way. The link works once, for an hour.
      </p>
    )
  return (
    <form className="stack" onSubmit={onSubmit}>
      <TextField
        label="Email"
        type="email"
        autoComplete="username"
        required
        maxLength={254}
        value={email}
        onChange={setEmail}
      />
      <RefusalBox error={request.error} />
      <button type="submit" className="button main wide-button" disabled={request.isPending}>
        Send link
      </button>
    </form>
  )
}

function NewPasswordForm({ secret }: { secret: string }) {
  const [password, setPassword] = useState('')
  const reset = useMutation({
    mutationFn: () => ask('POST', '/api/v2/session/reset/complete', { params: {}, body: { secret, password } }),
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    reset.mutate()
  }
  if (reset.isSuccess) return <p role="status">Password changed. Sign in with it.</p>
  return (
    <form className="stack" onSubmit={onSubmit}>
      <p className="soft">You are signed out everywhere, and your personal tokens stop working.</p>
      <NewPasswordField label="New password" value={password} onChange={setPassword} />
      <RefusalBox error={reset.error} />
      <button type="submit" className="button main wide-button" disabled={reset.isPending}>
        Change password
      </button>
    </form>
  )
}
