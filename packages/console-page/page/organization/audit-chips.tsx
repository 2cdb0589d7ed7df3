import { FilterChip } from '../calls/filter-chip.tsx'
import { TimeChip } from '../calls/time-chip.tsx'
import { useFilter } from '../components/use-filter.ts'
import type { AuditFilters } from './audit-filters.ts'
import { actionLabels } from './audit-sentence.ts'

/** Filters of an audit log, kept in the URL. */
export function AuditChips({
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
  return (
    <div className="chips" role="group" aria-label="Filters">
      {(users !== null || filters.user !== undefined) && (
        <FilterChip
          name="User"
          value={filters.user}
          choices={(users ?? []).map(({ id, name }) => [id, name])}
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
          choices={[[filters.subject, nameOf(filters.subject)]]}
          onChange={set('subject')}
        />
      )}
      {filters.address !== undefined && (
        <FilterChip name="Address" value={filters.address} choices={[]} onChange={set('address')} />
      )}
    </div>
  )
}
