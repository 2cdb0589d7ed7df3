import { Link } from '@tanstack/react-router'
import type { AuditRecord } from '@gateway/api/console/audit'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Moment } from '../components/moment.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { Waiting } from '../components/waiting.tsx'
import { AuditChips } from './audit-chips.tsx'
import type { AuditFilters } from './audit-filters.ts'
import { auditSentence } from './audit-sentence.ts'
import { auditFile, type AuditOf, useAudit } from './use-audit.ts'

/** Entries of an audit log, newest first, with filters and a CSV file. */
export function AuditList({
  of,
  filters,
  users,
  nameOf,
  empty,
}: {
  of: AuditOf
  filters: AuditFilters
  /** Users to filter by; null: the log is of one user. */
  users: { id: string; name: string }[] | null
  nameOf: (id: string) => string
  /** Shown while nothing has happened. */
  empty: string
}) {
  const audit = useAudit(of, filters)
  const rows = audit.data?.pages.flatMap(({ data }) => data)
  const columns: Column<AuditRecord>[] = [
    { head: 'Time', cell: ({ at }) => <Moment iso={at} /> },
    ...(users === null ? [] : [{ head: 'User', cell: userOf }]),
    { head: 'Action', cell: (entry) => <Action entry={entry} nameOf={nameOf} /> },
    { head: 'From', cell: (entry) => <From entry={entry} /> },
  ]
  return (
    <>
      <div className="head">
        <AuditChips filters={filters} users={users} nameOf={nameOf} />
        <a className="button" href={auditFile(of, filters)} download>
          Download CSV
        </a>
      </div>
      <RefusalBox error={audit.error} />
      {!rows && !audit.error && <Waiting what="audit log" />}
      {rows?.length === 0 &&
        (Object.keys(filters).length > 0 ? (
          <EmptyState title="No matching entries">Clear a filter.</EmptyState>
        ) : (
          <EmptyState title="No entries yet">{empty}</EmptyState>
        ))}
      {rows && rows.length > 0 && (
        <DataTable caption="Audit log" columns={columns} rows={rows} keyOf={({ id }) => id} />
      )}
      <ShowMore list={audit} text="Show older entries" />
    </>
  )
}

function userOf({ user, userName, action }: AuditRecord): string {
  return userName ?? user ?? (action === 'key.rotate' ? 'The key itself' : 'System')
}

function Action({ entry, nameOf }: { entry: AuditRecord; nameOf: (id: string) => string }) {
  return (
    <>
      {auditSentence(entry, nameOf)}
      <div className="soft small">
        <Link to="." search={(now: object) => ({ ...now, subject: entry.subject })}>
          <span className="visually-hidden">Show all entries for </span>
          <code>{entry.subject}</code>
        </Link>
      </div>
    </>
  )
}

function From({ entry: { address, device } }: { entry: AuditRecord }) {
  if (address === null) return '–'
  return (
    <>
      <Link to="." search={(now: object) => ({ ...now, address })}>
        <span className="visually-hidden">Show all entries from </span>
        <code>{address}</code>
      </Link>
      {device !== null && <div className="soft small">{device}</div>}
    </>
  )
}
