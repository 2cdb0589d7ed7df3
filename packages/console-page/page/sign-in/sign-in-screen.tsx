import { useQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { readingSignInMethods, readingMe } from '../api/session.ts'
import { OpenPage, openPages } from '../frame/open-page.tsx'
import { Screen } from '../frame/screen.tsx'
import { addressToComeBackTo } from '@gateway/api/console/console-address'
import type { SignInMethods, MeRecord } from '@gateway/api/console/sign-in'
import { Dialog } from '../components/dialog.tsx'
import { useRef, useState, type FormEvent, type ReactNode } from 'react'
import { ask } from '../api/ask.ts'
import { keepAnswer } from '../api/queries.ts'
import { Field, CodeField } from '../components/fields.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { unloadPage } from '../components/unload-page.ts'

export function SignInScreen() {
  const { data } = useQuery(readingSignInMethods)
  return (
    <OpenPage>
      <Screen title="Sign in">
        <SignInForm
          isCodeMissing={data?.secondFactor ?? false}
          before={data?.provider && <ProviderLink provider={data.provider} />}
          after={
            <p>
              <Link to={openPages.reset}>Forgot your password?</Link>
            </p>
          }
        />
      </Screen>
    </OpenPage>
  )
}

/** Link to single sign-on that returns to the current URL. */
function ProviderLink({ provider }: { provider: NonNullable<SignInMethods['provider']> }) {
  useLocation() // re-renders when the URL changes
  const returnTo = new URLSearchParams({ returnTo: addressToComeBackTo(location) })
  return (
    <>
      {provider.isReached ? (
        <a className="button wide-button" href={`${provider.path}?${returnTo}`}>
          Continue with single sign-on
        </a>
      ) : (
        <p className="notice">Single sign-on is unavailable. You can still sign in with a password.</p>
      )}
      <p className="or">or with a password</p>
    </>
  )
}

/** Dialog over the current screen when the session has expired. The screen keeps its state. */
export function SignInAgain({ email }: { email: string }) {
  const { data } = useQuery(readingSignInMethods)
  return (
    <Dialog title="Your session has ended" stays onClose={() => {}}>
      <p>Sign in again. The page stays as you left it.</p>
      {data?.provider?.isReached && (
        <>
          <a className="button wide-button" href={data.provider.path} target="_blank" rel="noreferrer">
            Continue with single sign-on, in a new tab
          </a>
          <p className="soft small">Come back to this tab once you are signed in there.</p>
          <p className="or">or with a password</p>
        </>
      )}
      <SignInForm email={email} />
    </Dialog>
  )
}

/**
 * Sign-in form: email and password, then the code of a second factor if the user has one.
 * @param email prefilled with the address of an expired session
 * @param isCodeMissing whether a sign-in of this browser already lacks only its code
 * @param before shown above the form, but not while it asks for the code; `after` below it
 */
export function SignInForm({
  email: known = '',
  isCodeMissing = false,
  before,
  after,
}: {
  email?: string
  isCodeMissing?: boolean
  before?: ReactNode
  after?: ReactNode
}) {
  const [hasCancelled, setCancelled] = useState(false)
  const [email, setEmail] = useState(known)
  const [password, setPassword] = useState('')
  const passwordField = useRef<HTMLInputElement>(null)
  const client = useQueryClient()
  const signIn = useMutation({
    mutationFn: () => ask('POST', '/api/v2/session', { params: {}, body: { email, password } }),
    onSuccess: (answer) => ('email' in answer ? onSignedIn(answer) : setCancelled(false)),
    onError: () => {
      setPassword('')
      passwordField.current?.focus()
    },
  })
  async function onSignedIn(me: MeRecord) {
    // A different user must not see the previous user's data.
    if (known !== '' && me.email !== known) return unloadPage(() => location.reload())
    await keepAnswer(client, readingMe, me)
    await client.invalidateQueries({ predicate: ({ state }) => state.status === 'error' })
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate()
  }
  const onCancel = () => {
    setCancelled(true)
    setPassword('')
    signIn.reset()
  }
  if (!hasCancelled && (isCodeMissing || signIn.data))
    return <SecondFactorForm onDone={onSignedIn} onCancel={onCancel} />
  return (
    <>
      {before}
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
      {after}
    </>
  )
}

/** Second step of a sign-in: a code of the authenticator app, or a recovery code. */
function SecondFactorForm({ onDone, onCancel }: { onDone: (me: MeRecord) => unknown; onCancel: () => void }) {
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
