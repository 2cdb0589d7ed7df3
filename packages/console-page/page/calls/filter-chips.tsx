import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { usePlace, useProducts } from '../api/use-project.ts'
import { callStates, spans, type CallFilters, type Span } from './call-filters.ts'
import { spanWords, stateWords } from './call-words.ts'
import { FilterChip } from './filter-chip.tsx'

/** What narrows the list, each by itself; all of it is in the address. */
export function FilterChips({ filters }: { filters: CallFilters }) {
  const { tenant, project } = usePlace()
  const { products } = useProducts()
  const keys = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }))
  const navigate = useNavigate({ from: '/projects/$tenant/$project/calls' })
  const set = (name: keyof CallFilters) => (value: string | undefined) =>
    void navigate({ search: ({ [name]: _, ...others }) => ({ ...others, ...(value && { [name]: value }) }) })
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
        choices={callStates.map((state) => [state, stateWords[state]])}
        onChange={set('state')}
      />
      <FilterChip
        name="Time"
        value={filters.since}
        choices={(Object.keys(spans) as Span[]).map((span) => [span, spanWords[span]])}
        onChange={set('since')}
      />
      {filters.execution !== undefined && (
        <FilterChip name="Execution" value={filters.execution} choices={[]} onChange={set('execution')} />
      )}
    </div>
  )
}
