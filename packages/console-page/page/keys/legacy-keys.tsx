import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { KeyRecord } from '@gateway/api/console/keys'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { several } from '../pure/usd.ts'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'

/** Organization keys created before keys were bound to projects. They can't make calls and must be replaced. */
export function LegacyKeys() {
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
      cell: (key) => (
        <button
          type="button"
          className="button small danger"
          aria-label={`Revoke ${key.name}`}
          onClick={() => setRevoked(key)}
        >
          Revoke
        </button>
      ),
    },
  ]
  return (
    <section className="stack" aria-label="Needs reissue">
      <h2>Needs reissue</h2>
      <p className="notice">
        {several(data.length, 'key')} created before keys were bound to projects. They can't make calls. Create a
        replacement in the project each was used for, then revoke the old key.
      </p>
      <DataTable caption="Keys that need reissue" columns={columns} rows={data} keyOf={({ id }) => id} />
      {revoked && <RevokeKeyDialog of={revoked} onClose={() => setRevoked(null)} />}
    </section>
  )
}
