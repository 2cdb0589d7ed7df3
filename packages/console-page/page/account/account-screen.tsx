import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { useMe, readingMe } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { CopyButton } from '../components/copying.tsx'
import { Facts, Moment } from '../components/values.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { TokensSection, type TokenScope } from '../settings/tokens-section.tsx'
import { SecondFactorSection } from './second-factor-section.tsx'
import type { Scope } from '@gateway/api/console/scopes'
import { readingAll, useChange, readAgain } from '../api/queries.ts'
import { useState, type FormEvent } from 'react'
import { announce } from '../frame/announcer.ts'
import { useSignOut } from '../frame/use-sign-out.ts'
import { endPlaygrounds } from '../playground/data/kept.ts'
import { NewPasswordField, TextField } from '../components/fields.tsx'
import type { SessionRecord } from '@gateway/api/console/second-factor'
import { DataTable, type Column } from '../components/data-table.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { Loaded } from '../components/list-states.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { deviceName } from './device-name.ts'

/** The user's profile, personal tokens, second factor, sessions and password. */
export function AccountScreen() {
  const { id, name, email, platformOperator, tenants } = useMe()
  const signOut = useSignOut()
  return (
    <Screen
      title="Account"
      actions={
        <button type="button" className="button" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </button>
      }
    >
      <RefusalBox error={signOut.error} />
      <section className="card stack" aria-label="Your account">
        <Facts
          of={[
            ['Name', name],
            ['Email', email],
            ['Platform operator', platformOperator ? 'Yes' : null],
            ['Organizations', tenants.map((each) => `${each.name} (${each.role})`).join(', ') || 'None'],
            [
              'User ID',
              <>
                <code>{id}</code> <CopyButton text={id} label="Copy user ID" isSmall />
              </>,
            ],
          ]}
        />
      </section>
      <TokensSection
        title="Personal tokens"
        of={usePersonalTokens()}
        text="Until it expires, anyone who sends one as Authorization: Bearer svu_… can do what you can, in its scopes. For scripts, prefer a service token, which doesn't depend on you."
      />
      <SecondFactorSection />
      <SessionsSection />
      <PasswordForm email={email} />
    </Screen>
  )
}

/** The user's personal tokens, which have the user's permissions in their scopes. */
function usePersonalTokens(): TokenScope {
  const { platformOperator } = useMe()
  const { data, error } = useQuery(readingAll('/api/v2/me/tokens', { params: {} }))
  const { operator, ...others } = scopeLabels
  return {
    tokens: data?.map((token) => ({ ...token, permissions: token.scopes })),
    error,
    label: 'Scopes',
    permissions: { ...others, ...(platformOperator && { operator }) },
    create: ({ name, expiresInDays, permissions }, idempotencyKey) => {
      const body = { name, expiresInDays, scopes: permissions as Scope[] }
      return ask('POST', '/api/v2/me/tokens', { params: {}, body, idempotencyKey })
    },
    alsoEnds: 'Keys, service tokens and invitations made with it end too.',
    remove: (token) => ask('DELETE', '/api/v2/me/tokens/{token}', { params: { token } }),
  }
}

/** What each scope of a personal token allows, in the order of the form. */
const scopeLabels: Record<Scope, string> = {
  'flows:read': 'View flows and executions',
  'flows:write': 'Edit and run flows (spends from the wallet)',
  'assets:read': 'View assets',
  'assets:write': 'Upload and delete assets',
  'keys:read': 'View API keys',
  'keys:write': 'Create, rename, pause, rotate and revoke API keys',
  'money:read': 'Read wallets, statements, usage and calls',
  'money:write': 'Add funds and adjust balances, as a platform operator',
  'notices:read': 'View alerts and webhooks',
  'notices:write': 'Change alert rules and webhooks',
  'projects:read': 'View projects, grants and assignments',
  'projects:write': 'Change projects, grants and assignments',
  'catalogue:read': 'View the catalog',
  'catalogue:write': 'Change the catalog, as a platform operator',
  'organization:read': 'View members, teams and the audit log',
  'organization:write': 'Change members and teams',
  'tokens:read': 'View service tokens',
  'tokens:write': 'Create and delete service tokens',
  'account:read': 'View your sessions and personal tokens',
  'account:write': 'End your sessions and personal tokens, set your first password',
  operator: 'Act as a platform operator, in the areas selected above',
}

/** Changes the user's password. This ends every session and personal token, so that anyone else signed in is out. */
function PasswordForm({ email }: { email: string }) {
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
      <p className="soft">
        Changing your password signs you out everywhere and deletes your personal tokens. Keys, service tokens and
        invitations made with them end too.
      </p>
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

/** Where the user is signed in, and how to end it. */
function SessionsSection() {
  const sessions = useQuery(readingAll('/api/v2/me/sessions', { params: {} }))
  const [ended, setEnded] = useState<SessionRecord | null>(null)
  const [isEndingAll, setEndingAll] = useState(false)
  const columns: Column<SessionRecord>[] = [
    {
      head: 'Device',
      cell: ({ device, address, current }) => (
        <>
          <span title={device}>{deviceName(device)}</span>
          {current && ' (this one)'}
          <div className="soft small">{address}</div>
        </>
      ),
    },
    {
      head: 'Signed in with',
      cell: ({ method, secondFactor }) =>
        `${method === 'password' ? 'Password' : 'Single sign-on'}${secondFactor ? ' and second factor' : ''}`,
    },
    { head: 'Signed in', cell: ({ createdAt }) => <Moment iso={createdAt} /> },
    { head: 'Last used', cell: ({ lastUsedAt }) => <Moment iso={lastUsedAt} /> },
    {
      head: 'Actions',
      cell: (session) =>
        session.current ? null : (
          <RowActions
            acts={['Sign out']}
            of={`${deviceName(session.device)} at ${session.address}`}
            onChoose={() => setEnded(session)}
          />
        ),
    },
  ]
  return (
    <section className="card stack" aria-label="Sessions">
      <div className="head">
        <h2>Sessions</h2>
        <button type="button" className="button danger" onClick={() => setEndingAll(true)}>
          Sign out everywhere
        </button>
      </div>
      <Loaded of={sessions} what="sessions">
        {(rows) => <DataTable caption="Sessions" columns={columns} rows={rows} keyOf={({ id }) => id} />}
      </Loaded>
      {ended && <EndSessionDialog of={ended} onClose={() => setEnded(null)} />}
      {isEndingAll && <SignOutEverywhereDialog onClose={() => setEndingAll(false)} />}
    </section>
  )
}

function EndSessionDialog({ of: { id, device }, onClose }: { of: SessionRecord; onClose: () => void }) {
  const end = useChange(
    () => ask('DELETE', '/api/v2/me/sessions/{session}', { params: { session: id } }),
    'Session ended.',
    ['/api/v2/me/sessions'],
  )
  return (
    <FormDialog title={`Sign out ${deviceName(device)}?`} submit="Sign out" isDanger change={end} onClose={onClose}>
      <p>If you don't recognize this session, also change your password.</p>
    </FormDialog>
  )
}

function SignOutEverywhereDialog({ onClose }: { onClose: () => void }) {
  const endAll = () => endPlaygrounds(() => ask('DELETE', '/api/v2/me/sessions', { params: {} }))
  const end = useChange(endAll, 'Signed out everywhere.', [])
  return (
    <FormDialog
      title="Sign out everywhere?"
      submit="Sign out everywhere"
      isDanger
      change={end}
      onDone={() => location.assign(import.meta.env.BASE_URL)}
      onClose={onClose}
    >
      <p>
        Ends all your sessions, including this one, and deletes your personal tokens. Programs that use them stop
        working. Keys, service tokens and invitations made with them end too; others don't change.
      </p>
    </FormDialog>
  )
}
