import { useState } from 'react'
import { FilterChip } from '../calls/filter-chip.tsx'
import { useFilter } from '../components/use-filter.ts'
import { kinds, orders, uses, type CatalogueView, type Order, type Use } from './catalogue-view.ts'
import { kindLabels } from './product-labels.ts'

export const choiceLabels: Record<Use, string> = { callable: 'Available', askable: 'Not assigned' }
const orderLabels: Record<Order, string> = {
  name: 'By name',
  cheapest: 'Cheapest first',
  priciest: 'Most expensive first',
  context: 'Longest context first',
}

/** Search, filters and sort order, kept in the URL. */
export function CatalogueFilters({ view: { q = '', kind, use, sort = 'name' } }: { view: CatalogueView }) {
  const [typed, setTyped] = useState(q) // the URL updates asynchronously
  const set = useFilter<CatalogueView>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <input
        type="search"
        className="catalogue-search"
        aria-label="Search models"
        placeholder="Search models"
        value={typed}
        onChange={({ target: { value } }) => {
          setTyped(value)
          set('q', { isTyped: true })(value)
        }}
      />
      <FilterChip
        name="Kind"
        value={kind}
        choices={kinds.map((each) => [each, kindLabels[each]])}
        onChange={set('kind')}
      />
      <FilterChip
        name="Use"
        value={use}
        choices={uses.map((each) => [each, choiceLabels[each]])}
        onChange={set('use')}
      />
      <select aria-label="Order" value={sort} onChange={({ target }) => set('sort')(target.value)}>
        {orders.map((each) => (
          <option key={each} value={each}>
            {orderLabels[each]}
          </option>
        ))}
      </select>
    </div>
  )
}
