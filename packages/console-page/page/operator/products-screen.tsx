import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ProductRecord } from '@gateway/api/console/products'
import { readingAll } from '../api/reading.ts'
import { useMe } from '../api/session.ts'
import { DataTable } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import { productColumns, type ProductAction } from './product-columns.tsx'
import { ProductDialog } from './product-dialog.tsx'
import { ProductsFilters } from './products-filters.tsx'
import { PublishDialog } from './publish-dialog.tsx'
import { SuspendDialog } from './suspend-dialog.tsx'
import './operator.css'

type Chosen = { action: ProductAction; product: ProductRecord } | { action: 'create'; product: null }

/** Products in any state, with their operator actions. */
export function ProductsScreen() {
  const { q = '', state } = useSearch({ from: '/operator/products' })
  const { platformOperator } = useMe()
  const { data, error } = useQuery({ ...readingAll('/api/v2/products', { params: {} }), enabled: platformOperator })
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const close = () => setChosen(null)
  const create = (
    <button type="button" className="button main" onClick={() => setChosen({ action: 'create', product: null })}>
      Create product
    </button>
  )
  const rows = data?.filter(
    (product) =>
      (state === undefined || product.state === state) &&
      `${product.id} ${product.name}`.toLowerCase().includes(q.toLowerCase()),
  )
  return (
    <OperatorScreen title="Products" actions={create}>
      <ProductsFilters view={{ q, ...(state && { state }) }} />
      <RefusalBox error={error} />
      {!data && !error && <Waiting what="products" />}
      {data?.length === 0 && (
        <EmptyState title="No products yet" action={create}>
          A product is a provider's model with a price. Projects call products.
        </EmptyState>
      )}
      {data && data.length > 0 && rows?.length === 0 && (
        <EmptyState title="No matching products">Clear a filter or change the search.</EmptyState>
      )}
      {rows && rows.length > 0 && (
        <DataTable
          caption="Products"
          columns={productColumns((action, product) => setChosen({ action, product }))}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      {chosen?.action === 'create' && <ProductDialog of={null} onClose={close} />}
      {chosen?.action === 'change' && <ProductDialog of={chosen.product} onClose={close} />}
      {chosen?.action === 'publish' && <PublishDialog of={chosen.product} onClose={close} />}
      {chosen?.action === 'suspend' && <SuspendDialog of={chosen.product} onClose={close} />}
    </OperatorScreen>
  )
}
