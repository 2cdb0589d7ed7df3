import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import type { ProductRecord } from '@gateway/api/console/products'
import { usePlace } from '../api/use-project.ts'
import { DataTable } from '../parts/data-table.tsx'
import { PriceList } from './price-list.tsx'
import { kindWords, modalityWords, parameterWords, sizeWords } from './product-words.ts'

const facts: { what: string; of: (product: ProductRecord) => ReactNode }[] = [
  { what: 'Price', of: (product) => <PriceList of={product} /> },
  { what: 'Context', of: (product) => sizeWords(product).map((line) => <div key={line}>{line}</div>) },
  { what: 'Kind', of: ({ kind }) => kindWords[kind] },
  { what: 'Takes and gives', of: modalityWords },
  { what: 'Parameters', of: parameterWords },
  { what: 'Moderated', of: ({ isModerated }) => (isModerated ? 'yes' : 'no') },
  { what: 'Publisher', of: ({ ownedBy }) => ownedBy },
]

/** A few models beside each other. */
export function Comparison({ of: products }: { of: ProductRecord[] }) {
  const place = usePlace()
  return (
    <section className="card stack" aria-label="Comparison">
      <div className="head">
        <h2>Comparison</h2>
        <Link
          className="button small"
          to="/projects/$tenant/$project/models"
          params={place}
          search={({ compare: _, ...others }) => others}
        >
          End the comparison
        </Link>
      </div>
      {products.length === 1 && <p className="soft">Choose Compare on another model to see both side by side.</p>}
      <DataTable
        caption="Comparison of models"
        columns={[
          { head: 'Fact', cell: ({ what }) => what },
          ...products.map((product) => ({
            head: product.id,
            cell: (fact: (typeof facts)[number]) => fact.of(product),
          })),
        ]}
        rows={facts}
        keyOf={({ what }) => what}
      />
    </section>
  )
}
