import { Link, useSearch } from '@tanstack/react-router'
import type { AuditRecord } from '@gateway/api/console/people'
import type { Column } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import { ShowMore } from '../parts/show-more.tsx'
import { AuditChips } from './audit-chips.tsx'
import { auditSentence } from './audit-sentence.ts'
import { ListScreen } from './list-screen.tsx'
import { useAudit } from './use-audit.ts'
import { useAuditNames } from './use-audit-names.ts'
import { useOrganization } from './use-organization.ts'

/** Who did what, and when, newest first. */
export function AuditScreen() {
  const { tenant, name } = useOrganization()
  const filters = useSearch({ from: '/organizations/$tenant/audit' })
  const audit = useAudit(tenant, filters)
  const nameOf = useAuditNames()
  const columns: Column<AuditRecord>[] = [
    { head: 'When', cell: ({ at }) => <Moment iso={at} /> },
    { head: 'Who', cell: ({ person }) => (person === null ? 'the service' : nameOf(person)) },
    { head: 'What', cell: (entry) => <WhatWasDone entry={entry} tenant={tenant} nameOf={nameOf} /> },
  ]
  const rows = audit.data?.pages.flatMap(({ data }) => data)
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      <ListScreen
        title="Audit"
        of={name}
        list={{ data: rows, error: audit.error }}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          isFiltered
            ? { title: 'Nothing was done like this', text: 'Take a filter away to see more.' }
            : { title: 'Nothing was done yet', text: 'Every change of people, projects, keys and flows is kept here.' }
        }
      >
        <AuditChips filters={filters} nameOf={nameOf} />
      </ListScreen>
      <ShowMore list={audit} text="Show older entries" />
    </>
  )
}

function WhatWasDone({
  entry,
  tenant,
  nameOf,
}: {
  entry: AuditRecord
  tenant: string
  nameOf: (id: string) => string
}) {
  return (
    <>
      {auditSentence(entry, nameOf)}
      <div className="soft small">
        <Link
          to="/organizations/$tenant/audit"
          params={{ tenant }}
          search={(now) => ({ ...now, subject: entry.subject })}
        >
          <span className="visually-hidden">All that was done to </span>
          <code>{entry.subject}</code>
        </Link>
      </div>
    </>
  )
}
