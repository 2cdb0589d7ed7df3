import { useState } from 'react'
import { useMemberNames } from '../api/session.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/values.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { useChange, useOnce } from '../api/queries.ts'
import { TextField } from '../components/fields.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import type { AccessTokenRecord } from '@gateway/api/console/access-tokens'
import type { TokenRecord } from '@gateway/api/console/sign-in'

/**
 * List of tokens with their permissions, and the form for a new one.
 * @param isAlone on a screen with the same title
 */
export function TokensSection({
  title,
  of,
  text,
  isAlone = false,
}: {
  title: string
  of: TokenScope
  text: string
  isAlone?: boolean
}) {
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<ShownToken | null>(null)
  const columns: Column<ShownToken>[] = [
    {
      head: 'Token',
      cell: ({ name, prefix, createdBy }) => (
        <>
          {name}
          <div className="soft small">
            <code>{prefix}…</code>
            {createdBy !== undefined && <CreatedBy user={createdBy} />}
          </div>
        </>
      ),
    },
    ...(of.placeOf ? [{ head: 'Scope', cell: of.placeOf }] : []),
    { head: of.label, cell: ({ permissions }) => permissions.join(', ') },
    { head: 'Created', cell: ({ createdAt }) => <Moment iso={createdAt} to="day" /> },
    { head: 'Expires', cell: ({ expiresAt }) => <Moment iso={expiresAt} to="day" /> },
    {
      head: 'Actions',
      cell: (token) => <RowActions acts={['Delete']} of={`token ${token.name}`} onChoose={() => setDeleted(token)} />,
    },
  ]
  return (
    <section className={isAlone ? 'stack' : 'card stack'} aria-label={title}>
      <div className="head">
        {isAlone ? <p className="soft">{text}</p> : <h2>{title}</h2>}
        {!of.error && (
          <button type="button" className={isAlone ? 'button main' : 'button'} onClick={() => setCreating(true)}>
            Create token
          </button>
        )}
      </div>
      {!isAlone && <p className="soft">{text}</p>}
      <Loaded of={{ data: of.tokens, error: of.error }} what="tokens">
        {(tokens) =>
          tokens.length > 0 ? (
            <DataTable caption={title} columns={columns} rows={tokens} keyOf={({ id }) => id} />
          ) : isAlone ? (
            <EmptyState title="No tokens yet">
              Create one for each script, with only the permissions it needs.
            </EmptyState>
          ) : (
            <p className="soft">No tokens yet.</p>
          )
        }
      </Loaded>
      {isCreating && <CreateTokenDialog of={of} onClose={() => setCreating(false)} />}
      {deleted && <DeleteTokenDialog token={deleted} of={of} onClose={() => setDeleted(null)} />}
    </section>
  )
}

function CreatedBy({ user }: { user: string }) {
  const nameOf = useMemberNames()
  return <> by {nameOf(user)}</>
}

function DeleteTokenDialog({
  token: { id, name, prefix, permissions },
  of,
  onClose,
}: {
  token: ShownToken
  of: TokenScope
  onClose: () => void
}) {
  const remove = useChange(() => of.remove(id), `Token ${name} deleted.`)
  return (
    <FormDialog title={`Delete token ${name}?`} submit="Delete token" isDanger change={remove} onClose={onClose}>
      <p>
        All further requests with <code>{prefix}…</code> are refused
        {permissions?.includes('sandboxes.use') && ', including further calls of executions it started'}. {of.alsoEnds}{' '}
        This can't be undone.
      </p>
    </FormDialog>
  )
}

/** Form for a new token, then its secret, shown once. */
function CreateTokenDialog({ of, onClose }: { of: TokenScope; onClose: () => void }) {
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

/** Token in a list. A personal token has scopes instead of permissions, and no creator. */
type ShownToken = Pick<TokenRecord, 'id' | 'name' | 'prefix' | 'createdAt' | 'expiresAt'> &
  Pick<AccessTokenRecord, 'permissions'> &
  Partial<Pick<AccessTokenRecord, 'createdBy' | 'project'>>

interface NewToken {
  name: string
  expiresInDays: number
  permissions: string[]
}

/** Owner of tokens: a user, a project or an organization. */
export interface TokenScope {
  tokens: ShownToken[] | undefined
  error: unknown
  /** Where a token works, if not all work in the same place. */
  placeOf?: (token: ShownToken) => string
  create(token: NewToken, idempotencyKey: string): Promise<{ secret: string | null; resolution?: string | undefined }>
  remove(token: string): Promise<unknown>
  /** What else ends when a token is deleted, as a sentence. */
  alsoEnds?: string
  /** Heading of the permissions. */
  label: 'Permissions' | 'Scopes'
  /** Selectable permissions with their labels. */
  permissions: Readonly<Record<string, string>>
}

export const DEFAULT_DAYS = '90'

/** Lifetime of a token, in days. */
export function TokenDays({ days, onChange }: { days: string; onChange: (days: string) => void }) {
  return (
    <TextField
      label="Expires in (days)"
      hint="1 to 365."
      type="number"
      required
      min={1}
      max={365}
      value={days}
      onChange={onChange}
    />
  )
}
