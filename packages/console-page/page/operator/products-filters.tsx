import { useState } from 'react'
import { useNavigate } from '@tanstack/react-router'
import { FilterChip } from '../calls/filter-chip.tsx'
import { productStates, type ProductsView } from './operator-views.ts'
import { stateWords } from './product-columns.tsx'

/** A search and a state; both are in the address. */
export function ProductsFilters({ view: { q = '', state } }: { view: ProductsView }) {
  const navigate = useNavigate({ from: '/operator/products' })
  const [typed, setTyped] = useState(q) // the address follows a moment after
  const set = (name: keyof ProductsView, value: string | undefined) =>
    void navigate({
      search: ({ [name]: _, ...others }) => ({ ...others, ...(value && { [name]: value }) }),
      replace: name === 'q', // a letter is no step to go back to
    })
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
          set('q', value)
        }}
      />
      <FilterChip
        name="State"
        value={state}
        choices={productStates.map((each) => [each, stateWords[each].text])}
        onChange={(value) => set('state', value)}
      />
    </div>
  )
}
