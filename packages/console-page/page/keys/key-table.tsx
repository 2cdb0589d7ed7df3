import { useState } from 'react'
import type { KeyRecord } from '@gateway/api/console/keys'
import { useMemberNames } from '../api/use-names.ts'
import { useMe } from '../api/session.ts'
import { Badge } from '../components/badge.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { CheckKeyDialog } from './check-key-dialog.tsx'
import { KeyActions, type KeyAction } from './key-actions.tsx'
import { stateLabels } from './key-labels.ts'
import { ratesText } from './rate-draft.ts'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'
import { WindowBar } from './window-bar.tsx'

const dialogs = { check: CheckKeyDialog, rotate: RotateKeyDialog, revoke: RevokeKeyDialog } as const

/** The keys of a project and their actions. */
export function KeyTable({ keys }: { keys: KeyRecord[] }) {
  const [chosen, setChosen] = useState<{ action: KeyAction; key: KeyRecord } | null>(null)
  const nameOf = useMemberNames()
  const me = useMe()
  const userOf = (id: string) => (id === me.id ? 'you' : nameOf(id))
  const Chosen = chosen && dialogs[chosen.action]
  const columns: Column<KeyRecord>[] = [
    { head: 'Key', cell: (key) => <KeyName of={key} userOf={userOf} />, sortBy: ({ name }) => name },
    { head: 'State', cell: (key) => <KeyState of={key} userOf={userOf} />, sortBy: ({ state }) => state },
    { head: 'Limit', cell: KeyLimits },
    { head: 'Access', cell: ({ policy, resources }) => (policy === 'listed' ? resources.join(', ') : 'All products') },
    {
      head: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt ? <Moment iso={lastUsedAt} /> : 'Never'),
      sortBy: ({ lastUsedAt }) => lastUsedAt,
    },
    {
      head: 'Expires',
      cell: ({ expiresAt }) => (expiresAt ? <Moment iso={expiresAt} to="day" /> : 'Never'),
      sortBy: ({ expiresAt }) => expiresAt,
    },
    { head: 'Actions', cell: (key) => <KeyActions of={key} onChoose={(action) => setChosen({ action, key })} /> },
  ]
  return (
    <>
      <DataTable caption="Keys" columns={columns} rows={keys} keyOf={({ id }) => id} />
      {Chosen && <Chosen of={chosen.key} onClose={() => setChosen(null)} />}
    </>
  )
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

function KeyName({ of: { name, prefix, createdBy, createdAt, issuedBy, rotatedFrom }, userOf }: Shown) {
  return (
    <>
      {name}
      <div className="soft small">
        <code>{prefix}…</code> by {userOf(createdBy)}
        {rotatedFrom !== null && (
          <>
            , replaces a key that {issuedBy === rotatedFrom ? 'rotated itself' : `was rotated by ${userOf(issuedBy)}`}{' '}
            on <Moment iso={createdAt} />
          </>
        )}
      </div>
    </>
  )
}

function KeyState({ of: { id, state, rotatedBy, rotatedAt }, userOf }: Shown) {
  return (
    <>
      <Badge tone={stateLabels[state].tone} text={stateLabels[state].text} />
      {rotatedBy !== null && rotatedAt !== null && (
        <div className="soft small">
          {rotatedBy === id ? 'Rotated itself' : `Rotated by ${userOf(rotatedBy)}`} on <Moment iso={rotatedAt} />
        </div>
      )}
    </>
  )
}
