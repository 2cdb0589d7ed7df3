import { useNavigate } from '@tanstack/react-router'
import { groupings, ranges, type Grouping, type Range, type UsageView } from './usage-view.ts'
import { groupingWords, rangeWords } from './usage-words.ts'

/** By what, and how far back; both are in the address. */
export function UsageChoices({ by = 'model', range = 'month' }: UsageView) {
  const navigate = useNavigate({ from: '/projects/$tenant/$project/usage' })
  const set = (view: UsageView) => void navigate({ search: (before) => ({ ...before, ...view }) })
  return (
    <div className="chips" role="group" aria-label="What is shown">
      <select aria-label="Grouped by" value={by} onChange={({ target }) => set({ by: target.value as Grouping })}>
        {groupings.map((each) => (
          <option key={each} value={each}>
            By {groupingWords[each].toLowerCase()}
          </option>
        ))}
      </select>
      <select aria-label="Time" value={range} onChange={({ target }) => set({ range: target.value as Range })}>
        {(Object.keys(ranges) as Range[]).map((each) => (
          <option key={each} value={each}>
            {rangeWords[each]}
          </option>
        ))}
      </select>
    </div>
  )
}
