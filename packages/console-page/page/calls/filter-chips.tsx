import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/reading.ts'
import { useScope, useProducts } from '../api/use-project.ts'
import { useFilter } from '../components/use-filter.ts'
import { callStates, type CallFilters } from './call-filters.ts'
import { stateLabels } from './call-labels.ts'
import { FilterChip } from './filter-chip.tsx'
import { TimeChip } from './time-chip.tsx'

/** Filters of the list, kept in the URL. */
export function FilterChips({ filters }: { filters: CallFilters }) {
  const { tenant, project } = useScope()
  const { products } = useProducts()
  const keys = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }))
  const set = useFilter<CallFilters>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <FilterChip
        name="Key"
        value={filters.key}
        choices={(keys.data ?? []).map(({ id, name }) => [id, name])}
        onChange={set('key')}
      />
      <FilterChip
        name="Model"
        value={filters.model}
        choices={products.map(({ id, name }) => [id, name])}
        onChange={set('model')}
      />
      <FilterChip
        name="State"
        value={filters.state}
        choices={callStates.map((state) => [state, stateLabels[state]])}
        onChange={set('state')}
      />
      <TimeChip value={filters.since} onChange={set('since')} />
      {filters.execution !== undefined && (
        <FilterChip name="Execution" value={filters.execution} choices={[]} onChange={set('execution')} />
      )}
    </div>
  )
}
