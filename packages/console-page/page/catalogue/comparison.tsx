import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import type { ProductRecord } from '@gateway/api/console/products'
import { useScope } from '../api/use-project.ts'
import { DataTable } from '../components/data-table.tsx'
import { PriceList } from './price-list.tsx'
import { kindLabels, modalityLabels, parameterLabels, sizeLabels } from './product-labels.ts'

const facts: { what: string; of: (product: ProductRecord) => ReactNode }[] = [
  { what: 'Price', of: (product) => <PriceList of={product} /> },
  { what: 'Context', of: (product) => sizeLabels(product).map((line) => <div key={line}>{line}</div>) },
  { what: 'Kind', of: ({ kind }) => kindLabels[kind] },
  { what: 'Modalities', of: modalityLabels },
  { what: 'Parameters', of: parameterLabels },
  { what: 'Moderated', of: ({ isModerated }) => (isModerated ? 'yes' : 'no') },
  { what: 'Publisher', of: ({ ownedBy }) => ownedBy },
]

/** Side-by-side comparison of models. */
export function Comparison({ of: products }: { of: ProductRecord[] }) {
  const scope = useScope()
  return (
    <section className="card stack" aria-label="Comparison">
      <div className="head">
        <h2>Comparison</h2>
        <Link
          className="button small"
          to="/projects/$tenant/$project/models"
          params={scope}
          search={({ compare: _, ...others }) => others}
        >
          Clear comparison
        </Link>
      </div>
      {products.length === 1 && <p className="soft">Select Compare on another model to see both side by side.</p>}
      <DataTable
        caption="Comparison of models"
        columns={[
          { head: 'Property', cell: ({ what }) => what },
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
