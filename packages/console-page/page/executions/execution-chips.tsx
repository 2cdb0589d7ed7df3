import { useNavigate } from '@tanstack/react-router'
import type { SandboxRecord } from '@gateway/contracts/console/sandboxes'
import { spans, type Span } from '../calls/call-filters.ts'
import { spanWords } from '../calls/call-words.ts'
import { FilterChip } from '../calls/filter-chip.tsx'
import { executionStates, type ExecutionFilters } from './execution-filters.ts'
import { executionStateWords } from './execution-words.ts'

/** What narrows the list, each by itself; all of it is in the address. */
export function ExecutionChips({ filters, flows }: { filters: ExecutionFilters; flows: SandboxRecord[] }) {
  const navigate = useNavigate({ from: '/projects/$tenant/$project/executions' })
  const set = (name: keyof ExecutionFilters) => (value: string | undefined) =>
    void navigate({ search: ({ [name]: _, ...others }) => ({ ...others, ...(value && { [name]: value }) }) })
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
        choices={executionStates.map((state) => [state, executionStateWords[state]])}
        onChange={set('state')}
      />
      <FilterChip
        name="Time"
        value={filters.since}
        choices={(Object.keys(spans) as Span[]).map((span) => [span, spanWords[span]])}
        onChange={set('since')}
      />
    </div>
  )
}
