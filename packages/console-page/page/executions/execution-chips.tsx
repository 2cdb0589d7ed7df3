import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { FilterChip } from '../calls/filter-chip.tsx'
import { TimeChip } from '../calls/time-chip.tsx'
import { useFilter } from '../components/use-filter.ts'
import { executionStates, type ExecutionFilters } from './execution-filters.ts'
import { executionStateLabels } from './execution-labels.ts'

/** Filters of the list, kept in the URL. */
export function ExecutionChips({ filters, flows }: { filters: ExecutionFilters; flows: SandboxRecord[] }) {
  const set = useFilter<ExecutionFilters>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <FilterChip
        name="Flow"
        value={filters.flow}
        choices={flows.map(({ id, name }) => [id, name])}
        onChange={set('flow')}
      />
      <FilterChip
        name="State"
        value={filters.state}
        choices={executionStates.map((state) => [state, executionStateLabels[state]])}
        onChange={set('state')}
      />
      <TimeChip value={filters.since} onChange={set('since')} />
    </div>
  )
}
