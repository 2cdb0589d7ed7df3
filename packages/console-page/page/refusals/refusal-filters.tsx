import { useKeyNames } from '../api/use-names.ts'
import { FilterChip } from '../calls/filter-chip.tsx'
import { useFilter } from '../components/use-filter.ts'
import type { RefusalGroup } from './refusal-groups.ts'
import { spans, type Days, type RefusalView } from './refusal-view.ts'

const words: Record<Days, string> = { 1: 'Last 24 hours', 7: 'Last 7 days', 31: 'Last 31 days' }

/** Period, code and key filters, kept in the URL. */
export function RefusalFilters({
  view: { days = 1, code, key },
  codes,
  keys,
}: {
  view: RefusalView
  codes: RefusalGroup[]
  keys: RefusalGroup[]
}) {
  const nameOf = useKeyNames()
  const set = useFilter<RefusalView>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <select aria-label="Time" value={days} onChange={({ target }) => set('days')(Number(target.value))}>
        {spans.map((span) => (
          <option key={span} value={span}>
            {words[span]}
          </option>
        ))}
      </select>
      <FilterChip name="Code" value={code} choices={codes.map(({ group }) => [group, group])} onChange={set('code')} />
      <FilterChip
        name="Key"
        value={key}
        choices={keys.map(({ group }) => [group, nameOf(group)])}
        onChange={set('key')}
      />
    </div>
  )
}
