import { useState } from 'react'
import { FilterChip } from '../calls/filter-chip.tsx'
import { useFilter } from '../parts/use-filter.ts'
import { kinds, orders, uses, type CatalogueView, type Order, type Use } from './catalogue-view.ts'
import { kindWords } from './product-words.ts'

export const choiceWords: Record<Use, string> = { callable: 'May be called', askable: 'Not assigned' }
const orderWords: Record<Order, string> = {
  name: 'By name',
  cheapest: 'Cheapest first',
  dearest: 'Dearest first',
  context: 'Longest context first',
}

/** Search, filters and order; all of it is in the address. */
export function CatalogueFilters({ view: { q = '', kind, use, sort = 'name' } }: { view: CatalogueView }) {
  const [typed, setTyped] = useState(q) // the address follows a moment after
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
        choices={kinds.map((each) => [each, kindWords[each]])}
        onChange={set('kind')}
      />
      <FilterChip
        name="Use"
        value={use}
        choices={uses.map((each) => [each, choiceWords[each]])}
        onChange={set('use')}
      />
      <select aria-label="Order" value={sort} onChange={({ target }) => set('sort')(target.value)}>
        {orders.map((each) => (
          <option key={each} value={each}>
            {orderWords[each]}
          </option>
        ))}
      </select>
    </div>
  )
}
