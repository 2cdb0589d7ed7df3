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
  const Chosen = chosen && dialogs[chosen.action]
  const columns: Column<KeyRecord>[] = [
    {
      head: 'Key',
      cell: (key) => <KeyName of={key} maker={key.createdBy === me.id ? 'you' : nameOf(key.createdBy)} />,
    },
    { head: 'State', cell: ({ state }) => <Badge tone={stateLabels[state].tone} text={stateLabels[state].text} /> },
    { head: 'Limit', cell: KeyLimits },
    { head: 'Access', cell: ({ policy, resources }) => (policy === 'listed' ? resources.join(', ') : 'All products') },
    { head: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt ? <Moment iso={lastUsedAt} /> : 'Never') },
    { head: 'Expires', cell: ({ expiresAt }) => (expiresAt ? <Moment iso={expiresAt} to="day" /> : 'Never') },
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

function KeyName({ of: { name, prefix, rotatedFrom }, maker }: { of: KeyRecord; maker: string }) {
  return (
    <>
      {name}
      <div className="soft small">
        <code>{prefix}…</code> by {maker}
        {rotatedFrom !== null && ', replaces a rotated key'}
      </div>
    </>
  )
}
