import { Link } from '@tanstack/react-router'
import type { AuditRecord as Entry, PlatformAuditRecord } from '@gateway/api/console/audit'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState, Loaded, ShowMore } from '../components/list-states.tsx'
import { Moment } from '../components/values.tsx'
import type { AuditFilters } from './audit-filters.ts'
import { auditSentence, actionLabels } from './audit-sentence.ts'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { useKeyName, useScope } from '../api/session.ts'
import { spans } from '../calls/call-filters.ts'
import { FilterChip, useFilter } from '../components/filters.tsx'
import { TimeChip } from '../calls/call-columns.tsx'
import { deviceName } from '../account/device-name.ts'

type AuditRecord = Entry & Partial<Pick<PlatformAuditRecord, 'names'>>

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
  const columns: Column<AuditRecord>[] = [
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" isExact /> },
    ...(users === null ? [] : [{ head: 'User', cell: (entry: AuditRecord) => <User entry={entry} /> }]),
    ...(of === 'platform'
      ? [{ head: 'Organization', cell: (entry: AuditRecord) => <Organization entry={entry} /> }]
      : []),
    { head: 'Action', cell: (entry) => <Action entry={entry} nameOf={nameOf} /> },
    { head: 'From', cell: (entry) => <From entry={entry} /> },
  ]
  return (
    <>
      <div className="head">
        <AuditChips
          filters={filters}
          users={users}
          nameOf={namesIn(
            audit.data?.pages.flatMap(({ data }) => data),
            nameOf,
          )}
        />
        <a className="button" href={auditFile(of, filters)} download>
          Download CSV
        </a>
      </div>
      <Loaded of={{ data: audit.data?.pages.flatMap(({ data }) => data), error: audit.error }} what="audit log">
        {(rows) =>
          rows.length > 0 ? (
            <DataTable caption="Audit log" columns={columns} rows={rows} keyOf={({ id }) => id} />
          ) : Object.keys(filters).length > 0 ? (
            <EmptyState title="No matching entries">Clear a filter.</EmptyState>
          ) : (
            <EmptyState title="No entries yet">{empty}</EmptyState>
          )
        }
      </Loaded>
      <ShowMore list={audit} text="Show older entries" />
    </>
  )
}

/** Names by ID: those that the screen knows, those that come with the entries, and those of their users at that time. */
function namesIn(entries: AuditRecord[] = [], nameOf: (id: string) => string): (id: string) => string {
  const named = entries.flatMap(({ names = {}, user, userName }) => [
    ...(user !== null && userName !== null ? [[user, userName] as const] : []),
    ...Object.entries(names),
  ])
  const names = new Map(named)
  return (id) => (nameOf(id) === id ? (names.get(id) ?? id) : nameOf(id))
}

function User({ entry: { user, userName, action } }: { entry: AuditRecord }) {
  if (user === null) return action === 'key.rotate' ? 'The key itself' : 'System'
  const name = userName ?? user
  return (
    <Link to="." search={(now: object) => ({ ...now, user })} aria-label={`Show all entries by ${name}`}>
      {name}
    </Link>
  )
}

function Organization({ entry: { tenant, names = {} } }: { entry: AuditRecord }) {
  if (tenant === null) return <span className="soft">–</span>
  const name = names[tenant] ?? tenant
  return (
    <Link to="." search={(now: object) => ({ ...now, tenant })} aria-label={`Show all entries of ${name}`}>
      {name}
    </Link>
  )
}

/** Adds the name of the subject if it is a key of an organization: it has too many to read all. */
function useSubjectName(subject: string | undefined, nameOf: (id: string) => string): (id: string) => string {
  const { tenant } = useScope()
  const name = useKeyName(tenant !== '' && subject?.startsWith('key_') ? subject : null)
  return (id) => (name !== null && id === subject ? name : nameOf(id))
}

function Action({ entry, nameOf }: { entry: AuditRecord; nameOf: (id: string) => string }) {
  const withSubject = useSubjectName(entry.subject, nameOf)
  return (
    <>
      {auditSentence(entry, namesIn([entry], withSubject))}
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
      {device !== null && (
        <div className="soft small" title={device}>
          {deviceName(device)}
        </div>
      )}
    </>
  )
}

const PAGE = 50

/** Whose audit log. */
type AuditOf = { tenant: string } | 'me' | 'platform'

/** Audit log, newest first, page by page. Keeps the current rows while loading. */
function useAudit(of: AuditOf, filters: AuditFilters) {
  return useInfiniteQuery({
    queryKey: ['audit', of, filters],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...queryOf(of, filters), limit: PAGE, ...(pageParam && { cursor: pageParam }) }
      if (of === 'me') return ask('GET', '/api/v2/me/audit', { params: {}, query, signal })
      if (of === 'platform') return ask('GET', '/api/v2/audit', { params: {}, query, signal })
      return ask('GET', '/api/v2/tenants/{tenant}/audit', { params: of, query, signal })
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  })
}

/** Address of the same entries as a CSV file. */
function auditFile(of: AuditOf, filters: AuditFilters): string {
  const path = of === 'me' ? '/me' : of === 'platform' ? '' : `/tenants/${encodeURIComponent(of.tenant)}`
  return `/api/v2${path}/audit?${new URLSearchParams({ ...queryOf(of, filters), format: 'csv' })}`
}

function queryOf(of: AuditOf, { since, tenant, ...named }: AuditFilters) {
  const from = since && new Date(Date.now() - spans[since]).toISOString()
  return { ...named, ...(of === 'platform' && tenant && { tenant }), ...(from && { from }) }
}

/** Filters of an audit log, kept in the URL. */
function AuditChips({
  filters,
  users,
  nameOf,
}: {
  filters: AuditFilters
  /** null: the log is of one user. */
  users: { id: string; name: string }[] | null
  nameOf: (id: string) => string
}) {
  const set = useFilter<AuditFilters>()
  const withSubject = useSubjectName(filters.subject, nameOf)
  return (
    <div className="chips" role="group" aria-label="Filters">
      {filters.tenant !== undefined && (
        <FilterChip
          name="Organization"
          value={filters.tenant}
          choices={[[filters.tenant, nameOf(filters.tenant)]]}
          onChange={set('tenant')}
        />
      )}
      {((users !== null && users.length > 0) || filters.user !== undefined) && (
        <FilterChip
          name="User"
          value={filters.user}
          choices={
            users && users.length > 0
              ? users.map(({ id, name }) => [id, name])
              : [[filters.user ?? '', nameOf(filters.user ?? '')]]
          }
          onChange={set('user')}
        />
      )}
      <FilterChip
        name="Action"
        value={filters.action}
        choices={Object.entries(actionLabels)}
        onChange={set('action')}
      />
      <FilterChip
        name="Outcome"
        value={filters.outcome}
        choices={[
          ['succeeded', 'succeeded'],
          ['refused', 'refused'],
        ]}
        onChange={set('outcome')}
      />
      <TimeChip value={filters.since} onChange={set('since')} />
      {filters.subject !== undefined && (
        <FilterChip
          name="Target"
          value={filters.subject}
          choices={[[filters.subject, withSubject(filters.subject)]]}
          onChange={set('subject')}
        />
      )}
      {filters.address !== undefined && (
        <FilterChip name="Address" value={filters.address} choices={[]} onChange={set('address')} />
      )}
    </div>
  )
}
