import { useState, type FormEvent } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import type { OpenInvitation } from '@gateway/api/console/users'
import type { MeRecord, SignInMethods } from '@gateway/api/console/sign-in'
import { ask } from '../api/ask.ts'
import { isSignedOut } from '../api/failed.ts'
import { keepAnswer, readAgain } from '../api/queries.ts'
import { readingMe, readingSignInMethods } from '../api/session.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { NewPasswordField, TextField } from '../components/fields.tsx'
import { Waiting } from '../components/list-states.tsx'
import { Screen } from '../frame/screen.tsx'
import { secretInAddress } from './link-secret.ts'
import { SignInForm } from './sign-in-screen.tsx'
import { useSignOut } from '../frame/use-sign-out.ts'

/** Opened by the link of an invitation: joins as the signed-in user, or as a new one. */
export function InvitationScreen() {
  const secret = secretInAddress(useLocation().hash)
  const invitation = useQuery({
    queryKey: ['invitation', secret],
    queryFn: () => ask('POST', '/api/v2/invitations/read', { params: {}, body: { secret: secret! } }),
    enabled: secret !== null,
    retry: false,
  })
  if (secret === null)
    return (
      <Screen title="Invitation">
        <p>This address has no invitation. Open the link of your invitation as a whole.</p>
        <Link to="/">Go to the console</Link>
      </Screen>
    )
  if (!invitation.data)
    return (
      <Screen title="Invitation">
        <RefusalBox error={invitation.error} />
        {invitation.error ? <Link to="/">Go to the console</Link> : <Waiting what="the invitation" />}
      </Screen>
    )
  return <Invited secret={secret} invitation={invitation.data} />
}

function Invited({ secret, invitation }: { secret: string; invitation: OpenInvitation }) {
  const { data: known, error } = useQuery(readingMe)
  const me = isSignedOut(error) ? undefined : known
  const { data: methods } = useQuery(readingSignInMethods)
  const { organization, email, role } = invitation
  return (
    <Screen title={`Join ${organization}`}>
      <p>
        You are invited to {organization} as {role}, with the email {email}.
      </p>
      {!me && <NewUser {...{ secret, email }} isKnown={known !== undefined} provider={methods?.provider ?? null} />}
      {me && me.email === email && <JoinButton secret={secret} organization={organization} />}
      {me && me.email !== email && <ForSomeoneElse me={me} email={email} />}
    </Screen>
  )
}

/** Reads everything again as the new member, and opens the console. */
function useEntry() {
  const client = useQueryClient()
  const navigate = useNavigate()
  return async (me: MeRecord) => {
    await keepAnswer(client, readingMe, me)
    await navigate({ to: '/' })
    await readAgain(client)
  }
}

function JoinButton({ secret, organization }: { secret: string; organization: string }) {
  const enter = useEntry()
  const join = useMutation({
    mutationFn: () => ask('POST', '/api/v2/me/invitations', { params: {}, body: { secret } }),
    onSuccess: enter,
  })
  return (
    <>
      <RefusalBox error={join.error} />
      <button type="button" className="button main wide-button" disabled={join.isPending} onClick={() => join.mutate()}>
        Join {organization}
      </button>
    </>
  )
}

function ForSomeoneElse({ me, email }: { me: MeRecord; email: string }) {
  const signOut = useSignOut(() => location.reload()) // the link of the invitation stays
  return (
    <>
      <p className="notice">
        You are signed in as {me.email}. Sign out and continue as {email} to accept.
      </p>
      <RefusalBox error={signOut.error} />
      <button
        type="button"
        className="button main wide-button"
        disabled={signOut.isPending}
        onClick={() => signOut.mutate()}
      >
        Sign out
      </button>
    </>
  )
}

/** @param isKnown whether the user was signed in on this page, until their session ended */
function NewUser({
  secret,
  email,
  isKnown,
  provider,
}: {
  secret: string
  email: string
  isKnown: boolean
  provider: SignInMethods['provider']
}) {
  const [hasAccount, setHasAccount] = useState(isKnown)
  return (
    <>
      {provider?.isReached && <ProviderButton secret={secret} path={provider.path} />}
      {hasAccount ? <SignInForm email={email} /> : <NewAccountForm secret={secret} email={email} />}
      <button type="button" className="button wide-button" onClick={() => setHasAccount(!hasAccount)}>
        {hasAccount ? 'Create an account' : 'I have an account'}
      </button>
    </>
  )
}

/** The secret goes along in a cookie, so it is in no address. */
function ProviderButton({ secret, path }: { secret: string; path: string }) {
  const go = useMutation({
    mutationFn: () => ask('POST', '/api/v2/invitations/sign-in', { params: {}, body: { secret } }),
    onSuccess: () => location.assign(path),
  })
  return (
    <>
      <RefusalBox error={go.error} />
      <button type="button" className="button wide-button" disabled={go.isPending} onClick={() => go.mutate()}>
        Continue with single sign-on
      </button>
      <p className="or">or with a password</p>
    </>
  )
}

function NewAccountForm({ secret, email }: { secret: string; email: string }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const enter = useEntry()
  const accept = useMutation({
    mutationFn: () => ask('POST', '/api/v2/invitations/accept', { params: {}, body: { secret, name, password } }),
    onSuccess: enter,
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    accept.mutate()
  }
  return (
    <form className="stack" onSubmit={onSubmit}>
      <input type="text" autoComplete="username" value={email} readOnly hidden />
      <TextField label="Name" autoComplete="name" required maxLength={100} value={name} onChange={setName} />
      <NewPasswordField label="Password" value={password} onChange={setPassword} />
      <RefusalBox error={accept.error} />
      <button type="submit" className="button main wide-button" disabled={accept.isPending}>
        Create account and join
      </button>
    </form>
  )
}
