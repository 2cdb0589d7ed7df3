import { useNavigate } from '@tanstack/react-router'
import { spans, type Span } from '../calls/call-filters.ts'
import { FilterChip } from '../calls/filter-chip.tsx'
import { spanWords } from '../calls/call-words.ts'
import type { AuditFilters } from './audit-filters.ts'
import { actionWords } from './audit-sentence.ts'
import { useMembers } from './use-organization.ts'

/** What narrows the audit, each by itself; all of it is in the address. */
export function AuditChips({ filters, nameOf }: { filters: AuditFilters; nameOf: (id: string) => string }) {
  const members = useMembers().data ?? []
  const navigate = useNavigate({ from: '/organizations/$tenant/audit' })
  const set = (name: keyof AuditFilters) => (value: string | undefined) =>
    void navigate({ search: ({ [name]: _, ...others }) => ({ ...others, ...(value && { [name]: value }) }) })
  return (
    <div className="chips" role="group" aria-label="Filters">
      <FilterChip
        name="Person"
        value={filters.person}
        choices={members.map(({ id, name }) => [id, name])}
        onChange={set('person')}
      />
      <FilterChip name="Action" value={filters.action} choices={Object.entries(actionWords)} onChange={set('action')} />
      <FilterChip
        name="Time"
        value={filters.since}
        choices={(Object.keys(spans) as Span[]).map((span) => [span, spanWords[span]])}
        onChange={set('since')}
      />
      {filters.subject !== undefined && (
        <FilterChip
          name="Done to"
          value={filters.subject}
          choices={[[filters.subject, nameOf(filters.subject)]]}
          onChange={set('subject')}
        />
      )}
    </div>
  )
}
