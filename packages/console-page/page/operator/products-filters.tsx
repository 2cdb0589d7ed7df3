import { useState } from 'react'
import { FilterChip } from '../calls/filter-chip.tsx'
import { useFilter } from '../components/use-filter.ts'
import { productStates, type ProductsView } from './operator-views.ts'
import { stateLabels } from '../catalogue/product-labels.ts'

/** Search and state filters, kept in the URL. */
export function ProductsFilters({ view: { q = '', state } }: { view: ProductsView }) {
  const [typed, setTyped] = useState(q) // the URL updates asynchronously
  const set = useFilter<ProductsView>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <input
        type="search"
        className="operator-search"
        aria-label="Search products"
        placeholder="Search products"
        value={typed}
        onChange={({ target: { value } }) => {
          setTyped(value)
          set('q', { isTyped: true })(value)
        }}
      />
      <FilterChip
        name="State"
        value={state}
        choices={productStates.map((each) => [each, stateLabels[each].text])}
        onChange={set('state')}
      />
    </div>
  )
}
