import { useNavigate } from '@tanstack/react-router'
import { FilterChip } from '../calls/filter-chip.tsx'
import { groupings, ranges, type Grouping, type Range, type UsageView } from './usage-view.ts'
import { groupingLabels, rangeLabels } from './usage-labels.ts'

/** Grouping and time range, kept in the URL. */
export function UsageChoices({ by = 'model', range = 'month', from, to }: UsageView) {
  const navigate = useNavigate({ from: '/projects/$tenant/$project/usage' })
  const set = (view: UsageView) => void navigate({ search: (before) => ({ ...before, ...view }) })
  const setRange = (chosen?: Range) =>
    void navigate({
      search: ({ from: _, to: __, ...before }) => ({ ...before, ...(chosen && { range: chosen }) }),
    })
  return (
    <div className="chips" role="group" aria-label="Filters">
      <select aria-label="Group by" value={by} onChange={({ target }) => set({ by: target.value as Grouping })}>
        {groupings.map((each) => (
          <option key={each} value={each}>
            By {groupingLabels[each].toLowerCase()}
          </option>
        ))}
      </select>
      <select aria-label="Time" value={range} onChange={({ target }) => setRange(target.value as Range)}>
        {(Object.keys(ranges) as Range[]).map((each) => (
          <option key={each} value={each}>
            {rangeLabels[each]}
          </option>
        ))}
      </select>
      {from !== undefined && to !== undefined && (
        <FilterChip name="Zoom" value={`${shown(from)} – ${shown(to)}`} choices={[]} onChange={() => setRange()} />
      )}
    </div>
  )
}

const minute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

function shown(time: string): string {
  return minute.format(new Date(time))
}
