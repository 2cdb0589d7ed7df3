import { Link, useSearch } from '@tanstack/react-router'
import type { AuditRecord } from '@gateway/api/console/users'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { AuditChips } from './audit-chips.tsx'
import { auditSentence } from './audit-sentence.ts'
import { ListScreen } from './list-screen.tsx'
import { useAudit } from './use-audit.ts'
import { useAuditNames } from './use-audit-names.ts'
import { useOrganization } from './use-organization.ts'

/** Audit log of an organization, newest first. */
export function AuditScreen() {
  const { tenant, name } = useOrganization()
  const filters = useSearch({ from: '/organizations/$tenant/audit' })
  const audit = useAudit(tenant, filters)
  const nameOf = useAuditNames()
  const columns: Column<AuditRecord>[] = [
    { head: 'Time', cell: ({ at }) => <Moment iso={at} /> },
    { head: 'User', cell: ({ user }) => (user === null ? 'System' : nameOf(user)) },
    { head: 'Action', cell: (entry) => <Entry entry={entry} tenant={tenant} nameOf={nameOf} /> },
  ]
  const rows = audit.data?.pages.flatMap(({ data }) => data)
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      <ListScreen
        title="Audit log"
        of={name}
        list={{ data: rows, error: audit.error }}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          isFiltered
            ? { title: 'No matching entries', text: 'Clear a filter.' }
            : { title: 'No entries yet', text: 'Changes to users, projects, keys and flows are recorded here.' }
        }
      >
        <AuditChips filters={filters} nameOf={nameOf} />
      </ListScreen>
      <ShowMore list={audit} text="Show older entries" />
    </>
  )
}

function Entry({ entry, tenant, nameOf }: { entry: AuditRecord; tenant: string; nameOf: (id: string) => string }) {
  return (
    <>
      {auditSentence(entry, nameOf)}
      <div className="soft small">
        <Link
          to="/organizations/$tenant/audit"
          params={{ tenant }}
          search={(now) => ({ ...now, subject: entry.subject })}
        >
          <span className="visually-hidden">Show all entries for </span>
          <code>{entry.subject}</code>
        </Link>
      </div>
    </>
  )
}
