import { FilterChip } from '../calls/filter-chip.tsx'
import { TimeChip } from '../calls/time-chip.tsx'
import { useFilter } from '../components/use-filter.ts'
import type { AuditFilters } from './audit-filters.ts'
import { actionLabels } from './audit-sentence.ts'
import { useMembers } from './use-organization.ts'

/** Filters of the audit log, kept in the URL. */
export function AuditChips({ filters, nameOf }: { filters: AuditFilters; nameOf: (id: string) => string }) {
  const members = useMembers().data ?? []
  const set = useFilter<AuditFilters>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <FilterChip
        name="User"
        value={filters.user}
        choices={members.map(({ id, name }) => [id, name])}
        onChange={set('user')}
      />
      <FilterChip
        name="Action"
        value={filters.action}
        choices={Object.entries(actionLabels)}
        onChange={set('action')}
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
    </div>
  )
}
