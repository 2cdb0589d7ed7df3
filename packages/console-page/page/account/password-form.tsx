import { useState, type FormEvent } from 'react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { readAgain } from '../api/read-again.ts'
import { readingMe } from '../api/session.ts'
import { announce } from '../frame/announcer.ts'
import { NewPasswordField } from '../components/new-password-field.tsx'
import { TextField } from '../components/text-field.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'

/** Changes the user's password. This ends every session and personal token, so that anyone else signed in is out. */
export function PasswordForm({ email }: { email: string }) {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const client = useQueryClient()
  const set = useMutation({
    mutationFn: () =>
      ask('PUT', '/api/v2/me/password', { params: {}, body: { password, ...(current !== '' && { current }) } }),
    onSuccess: () => {
      setCurrent('')
      setPassword('')
      announce('Password changed. Sign in again.')
      return readAgain(client, readingMe)
    },
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    set.mutate()
  }
  return (
    <section className="card stack" aria-label="Password">
      <h2>Password</h2>
      <p className="soft">Changing your password signs you out everywhere and deletes your personal tokens.</p>
      <form className="stack" onSubmit={onSubmit}>
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <div className="pair">
          <TextField
            label="Current password"
            type="password"
            autoComplete="current-password"
            hint="Leave empty if you have none yet."
            maxLength={256}
            value={current}
            onChange={setCurrent}
          />
          <NewPasswordField label="New password" value={password} onChange={setPassword} />
        </div>
        <RefusalBox error={set.error} />
        <div className="buttons">
          <button type="submit" className="button main" disabled={set.isPending}>
            {set.isPending ? 'Changing…' : 'Change password'}
          </button>
        </div>
      </form>
    </section>
  )
}
