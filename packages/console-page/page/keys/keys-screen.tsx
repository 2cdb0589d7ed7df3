import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { readingAll } from '../api/queries.ts'
import { useScope, useProjectName, useMe, useMemberNames } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { MissingKeyRight, useMissingKeyRight } from './key-right.tsx'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { useState } from 'react'
import type { KeyRecord } from '@gateway/api/console/keys'
import { DataList } from '../components/data-list.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { Moment, Badge } from '../components/values.tsx'
import { inUsd, several } from '../components/usd.ts'
import { keyActions, KeyDialog, RevokeKeyDialog, type KeyAction } from './key-dialogs.tsx'
import { isInGrace, stateLabels } from './key-labels.ts'
import { ratesText } from './rate-fields.tsx'
import { WindowBar } from './window-bar.tsx'

export function KeysScreen() {
  const { tenant, project } = useScope()
  const { ended, create } = useSearch({ from: '/projects/$tenant/$project/keys' })
  const navigate = useNavigate({ from: '/projects/$tenant/$project/keys' })
  const keys = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }))
  const showCreate = (isOpen: boolean) =>
    void navigate({
      search: ({ create: _, ...others }) => ({ ...others, ...(isOpen && { create: true as const }) }),
      ignoreBlocker: true,
    })
  const showEnded = (isShown: boolean) =>
    void navigate({ search: ({ ended: _, ...others }) => ({ ...others, ...(isShown && { ended: true as const }) }) })
  const missing = useMissingKeyRight()
  const createButton = (
    <button type="button" className="button main" disabled={missing !== null} onClick={() => showCreate(true)}>
      Create key
    </button>
  )
  return (
    <Screen title="API keys" of={useProjectName()} actions={createButton}>
      {missing && <MissingKeyRight of={missing} />}
      <LegacyKeys />
      <Loaded of={keys} what="keys">
        {(all) =>
          all.length === 0 ? (
            <EmptyState title="No keys you can manage" {...(missing === null && { action: createButton })}>
              A key makes calls for this project and can't be moved to another one. Create one to make your first call.
            </EmptyState>
          ) : (
            <>
              <KeyTable
                keys={all.filter((key) => ended || ['Active', 'Paused'].includes(key.state) || isInGrace(key))}
              />
              <label className="choice soft">
                <input type="checkbox" checked={ended ?? false} onChange={({ target }) => showEnded(target.checked)} />
                Show revoked and expired
              </label>
            </>
          )
        }
      </Loaded>
      {create && missing === null && <CreateKeyDialog onClose={() => showCreate(false)} />}
    </Screen>
  )
}

/** Organization keys created before keys were bound to projects. They can't make calls and must be replaced. */
function LegacyKeys() {
  const { tenant } = useScope()
  const [revoked, setRevoked] = useState<KeyRecord | null>(null)
  const { data = [] } = useQuery(
    readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { state: 'NeedsReissue' } }),
  )
  if (data.length === 0) return null
  const columns: Column<KeyRecord>[] = [
    { head: 'Key', cell: ({ name }) => name },
    { head: 'Secret', cell: ({ prefix }) => <code>{prefix}…</code> },
    { head: 'Created', cell: ({ createdAt }) => <Moment iso={createdAt} to="day" /> },
    {
      head: 'Actions',
      cell: (key) => <RowActions acts={['Revoke']} of={key.name} onChoose={() => setRevoked(key)} />,
    },
  ]
  return (
    <section className="stack" aria-label="Needs reissue">
      <h2>Needs reissue</h2>
      <p className="notice">
        {several(data.length, 'key')} created before keys were bound to projects. They can't make calls. Create a
        replacement in the project each was used for, then revoke the old key.
      </p>
      <DataTable caption="Keys that need reissue" columns={columns} rows={data} keyOf={({ id }) => id} isLong />
      {revoked && <RevokeKeyDialog of={revoked} onClose={() => setRevoked(null)} />}
    </section>
  )
}

/** The keys of a project and their actions. */
function KeyTable({ keys }: { keys: KeyRecord[] }) {
  const [chosen, setChosen] = useState<{ action: KeyAction; key: KeyRecord } | null>(null)
  const nameOf = useMemberNames()
  const me = useMe()
  const userOf = (id: string) => (id === me.id ? 'you' : nameOf(id))
  const columns: Column<KeyRecord>[] = [
    {
      head: 'Key',
      cell: (key) => <KeyName of={key} userOf={userOf} />,
      sortBy: ({ name }) => name,
      csv: ({ name }) => name,
    },
    {
      head: 'State',
      cell: (key) => <KeyState of={key} userOf={userOf} />,
      sortBy: ({ state }) => state,
      csv: ({ state }) => stateLabels[state].text,
    },
    { head: 'Limit', cell: KeyLimits, csv: ({ limit }) => inUsd(limit?.micro ?? null) },
    { head: 'Access', cell: accessText, csv: accessText },
    {
      head: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt ? <Moment iso={lastUsedAt} /> : 'Never'),
      sortBy: ({ lastUsedAt }) => lastUsedAt,
      csv: ({ lastUsedAt }) => lastUsedAt,
    },
    {
      head: 'Expires',
      cell: ({ expiresAt }) => (expiresAt ? <Moment iso={expiresAt} to="day" /> : 'Never'),
      sortBy: ({ expiresAt }) => expiresAt,
      csv: ({ expiresAt }) => expiresAt,
    },
    {
      head: 'Actions',
      cell: (key) => (
        <RowActions acts={keyActions(key)} of={key.name} onChoose={(action) => setChosen({ action, key })} />
      ),
    },
  ]
  return (
    <>
      <DataList
        name="keys"
        caption="Keys"
        columns={columns}
        rows={keys}
        keyOf={({ id }) => id}
        searchBy={({ name, prefix, createdBy }) => `${name} ${prefix} ${userOf(createdBy)}`}
      />
      {chosen && <KeyDialog action={chosen.action} of={chosen.key} onClose={() => setChosen(null)} />}
    </>
  )
}

function accessText({ policy, resources }: KeyRecord): string {
  return policy === 'listed' ? resources.join(', ') : 'All products'
}

function KeyLimits({ limit, window, rates }: KeyRecord) {
  const text = ratesText(rates)
  return (
    <>
      <WindowBar limit={limit} window={window} />
      {text !== null && <div className="soft small">{text}</div>}
    </>
  )
}

interface Shown {
  of: KeyRecord
  userOf: (id: string) => string
}

function KeyName({ of: { id, name, prefix, createdBy, createdAt, issuedBy, rotatedFrom }, userOf }: Shown) {
  return (
    <>
      <Link to="/projects/$tenant/$project/keys/$key" params={{ ...useScope(), key: id }}>
        {name}
      </Link>
      <div className="soft small">
        <code>{prefix}…</code> by {userOf(createdBy)}
        {rotatedFrom !== null && (
          <>
            , replaces a key that {issuedBy === rotatedFrom ? 'rotated itself' : `was rotated by ${userOf(issuedBy)}`}{' '}
            <Moment iso={createdAt} />
          </>
        )}
      </div>
    </>
  )
}

function KeyState({ of: key, userOf }: Shown) {
  const { id, state, rotatedBy, rotatedAt, graceUntil } = key
  return (
    <>
      <Badge tone={stateLabels[state].tone} text={stateLabels[state].text} />
      {rotatedBy !== null && rotatedAt !== null && (
        <div className="soft small">
          {rotatedBy === id ? 'Rotated itself' : `Rotated by ${userOf(rotatedBy)}`} <Moment iso={rotatedAt} />
        </div>
      )}
      {isInGrace(key) && (
        <div className="small">
          Old secret works until <Moment iso={graceUntil!} isExact />
        </div>
      )}
    </>
  )
}
