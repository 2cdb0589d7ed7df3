import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { JournalEntry } from '@gateway/api/console/statement'
import { reading } from '../api/queries.ts'
import { useMe, type ProjectScope } from '../api/session.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment, Money } from '../components/values.tsx'
import { Loaded } from '../components/list-states.tsx'
import { JOURNAL } from './wallet-draft.ts'

const NEWEST = 50
const amount = (head: string, of: (entry: JournalEntry) => number): Column<JournalEntry> => ({
  head,
  cell: (entry) => <Money micro={of(entry)} />,
  isNumber: true,
})
const columns: Column<JournalEntry>[] = [
  { head: 'Entry', cell: ({ seq }) => seq },
  { head: 'Kind', cell: ({ kind }) => kind },
  { head: 'Reference', cell: ({ reference }) => <code className="small">{reference}</code> },
  amount('Available', ({ available }) => available),
  amount('Reserved', ({ reserved }) => reserved),
  amount('Charged', ({ settled }) => settled),
  { head: 'When', cell: ({ at }) => <Moment iso={at} to="second" isExact /> },
]

/** The latest journal entries, loaded when opened. */
export function JournalPart({ scope }: { scope: ProjectScope }) {
  const [isOpen, setOpen] = useState(false)
  const mine = useMe().tenants.find(({ id }) => id === scope.tenant)?.projects
  const hasRole = mine?.some(({ id }) => id === scope.project) ?? false
  const journal = useQuery({
    ...reading(JOURNAL, { params: scope, query: { limit: NEWEST } }),
    enabled: isOpen,
  })
  if (!hasRole)
    return <p className="soft small">The journal lists calls, so only users with a role on the project can see it.</p>
  return (
    <details className="journal" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Latest {NEWEST} journal entries, as changes to the wallet</summary>
      <div className="stack">
        {isOpen && (
          <Loaded of={journal} what="the journal">
            {({ data }) => (
              <DataTable caption="Journal" columns={columns} rows={data} keyOf={({ seq }) => String(seq)} />
            )}
          </Loaded>
        )}
      </div>
    </details>
  )
}
