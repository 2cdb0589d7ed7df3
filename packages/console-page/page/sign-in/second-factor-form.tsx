import { useState, type FormEvent } from 'react'
import { useMutation } from '@tanstack/react-query'
import type { MeRecord } from '@gateway/api/console/sign-in'
import { ask } from '../api/ask.ts'
import { CodeField } from '../components/code-field.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'

/** Second step of a sign-in: a code of the authenticator app, or a recovery code. */
export function SecondFactorForm({ onDone, onCancel }: { onDone: (me: MeRecord) => unknown; onCancel: () => void }) {
  const [code, setCode] = useState('')
  const verify = useMutation({
    mutationFn: () => ask('POST', '/api/v2/session/second-factor', { params: {}, body: { code } }),
    onSuccess: onDone,
    onError: () => setCode(''),
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    verify.mutate()
  }
  return (
    <form className="stack" onSubmit={onSubmit}>
      <CodeField
        label="Code"
        hint="From your authenticator app. If you don't have it, enter a recovery code."
        code={code}
        onChange={setCode}
      />
      <RefusalBox error={verify.error} />
      <button type="submit" className="button main wide-button" disabled={verify.isPending}>
        {verify.isPending ? 'Verifying…' : 'Verify'}
      </button>
      <button type="button" className="button wide-button" onClick={onCancel}>
        Start again
      </button>
    </form>
  )
}
