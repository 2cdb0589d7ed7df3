import { useRef, useState, type FormEvent } from 'react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { keepAnswer } from '../api/read-again.ts'
import { readingMe } from '../api/session.ts'
import { Field } from '../components/field.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'

/** Sign-in form. `email` is prefilled with the address of an expired session. */
export function SignInForm({ email: known = '' }: { email?: string }) {
  const [email, setEmail] = useState(known)
  const [password, setPassword] = useState('')
  const passwordField = useRef<HTMLInputElement>(null)
  const client = useQueryClient()
  const signIn = useMutation({
    mutationFn: () => ask('POST', '/api/v2/session', { params: {}, body: { email, password } }),
    onSuccess: async (me) => {
      // A different user must not see the previous user's data.
      if (known !== '' && me.email !== known) return location.reload()
      await keepAnswer(client, readingMe, me)
      await client.invalidateQueries({ predicate: ({ state }) => state.status === 'error' })
    },
    onError: () => {
      setPassword('')
      passwordField.current?.focus()
    },
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate()
  }
  return (
    <form className="stack" onSubmit={onSubmit}>
      <Field label="Email">
        {(ids) => (
          <input
            {...ids}
            type="email"
            name="email"
            autoComplete="username"
            required
            maxLength={254}
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
        )}
      </Field>
      <Field label="Password">
        {(ids) => (
          <input
            {...ids}
            ref={passwordField}
            type="password"
            name="password"
            autoComplete="current-password"
            required
            maxLength={256}
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        )}
      </Field>
      <RefusalBox error={signIn.error} />
      <button type="submit" className="button main wide-button" disabled={signIn.isPending}>
        {signIn.isPending ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  )
}
