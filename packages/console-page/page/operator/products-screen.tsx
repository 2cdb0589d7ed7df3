import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ProductRecord } from '@gateway/api/console/products'
import { readingAll } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { EmptyState, Waiting } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import { PublishDialog, SuspendDialog } from './product-state-dialogs.tsx'
import './operator.css'
import { PriceList, stateLabels, kindLabels, sizeLabels } from '../catalogue/product-labels.tsx'
import { FilterChip, useFilter } from '../components/filters.tsx'
import { productStates, type ProductsView } from './operator-views.ts'
import { Badge } from '../components/values.tsx'

interface Chosen {
  action: ProductAction
  id: string
}

/** Products in any state, with their operator actions. */
export function ProductsScreen() {
  const { q = '', state } = useSearch({ from: '/operator/products' })
  const { platformOperator } = useMe()
  const { data, error } = useQuery({ ...readingAll('/api/v2/products', { params: {} }), enabled: platformOperator })
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const product = data?.find(({ id }) => id === chosen?.id)
  const close = () => setChosen(null)
  const navigate = useNavigate()
  const choose = (action: ProductAction, { id }: ProductRecord) => {
    if (action === 'Edit') void navigate({ to: '/operator/products/$product', params: { product: id } })
    else if (action === 'Use as template') void navigate({ to: '/operator/products/-/new', search: { template: id } })
    else setChosen({ action, id })
  }
  const create = (
    <Link className="button main" to="/operator/products/-/new">
      Create product
    </Link>
  )
  const rows = (data ?? []).filter(
    (product) =>
      (state === undefined || product.state === state) &&
      `${product.id} ${product.name}`.toLowerCase().includes(q.toLowerCase()),
  )
  return (
    <OperatorScreen title="Products" actions={create}>
      <RefusalBox error={error} />
      <DataList
        name="products"
        caption="Products"
        columns={productColumns(choose)}
        rows={rows}
        keyOf={({ id }) => id}
        filters={<ProductsFilters view={{ q, ...(state && { state }) }} />}
        empty={
          data?.length === 0 ? (
            <EmptyState title="No products yet" action={create}>
              A product is a provider's model with a price. Projects call products.
            </EmptyState>
          ) : data ? (
            <EmptyState title="No matching products">Clear a filter or change the search.</EmptyState>
          ) : (
            !error && <Waiting what="products" />
          )
        }
      />
      {product && chosen?.action === 'Publish' && <PublishDialog of={product} onClose={close} />}
      {product && chosen?.action === 'Suspend' && <SuspendDialog of={product} onClose={close} />}
    </OperatorScreen>
  )
}

/** Search and state filters, kept in the URL. */
function ProductsFilters({ view: { q = '', state } }: { view: ProductsView }) {
  const [typed, setTyped] = useState(q) // the URL updates asynchronously
  const set = useFilter<ProductsView>()
  return (
    <div className="chips" role="group" aria-label="Filters">
      <input
        type="search"
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

type ProductAction = 'Edit' | 'Use as template' | 'Publish' | 'Suspend'

/** Columns of the product list for operators. */
function productColumns(choose: (action: ProductAction, product: ProductRecord) => void): Column<ProductRecord>[] {
  return [
    {
      head: 'Product',
      sortBy: ({ name }) => name,
      csv: ({ id }) => id,
      cell: ({ id, name, kind }) => (
        <>
          <Link to="/operator/products/$product" params={{ product: id }}>
            {name}
          </Link>{' '}
          <span className="soft small">{kindLabels[kind]}</span>
          <div className="small">
            <code>{id}</code>
          </div>
        </>
      ),
    },
    { head: 'Price', cell: (product) => <PriceList of={product} /> },
    { head: 'Limits', cell: (product) => sizeLabels(product).map((line) => <div key={line}>{line}</div>) },
    {
      head: 'Reservation factor',
      cell: ({ overheads }) =>
        overheads && overheads.factor > 1 ? <Badge tone="warn" text={`× ${overheads.factor}`} /> : '× 1',
    },
    {
      head: 'Providers',
      cell: ({ providers = [] }) => (
        <ol className="small">
          {providers.map(({ provider, model, priority }, n) => (
            <li key={n}>
              {priority}. {provider} <code>{model}</code>
            </li>
          ))}
        </ol>
      ),
    },
    {
      head: 'State',
      cell: ({ state }) => <Badge {...stateLabels[state]} />,
      sortBy: ({ state }) => state,
      csv: ({ state }) => state,
    },
    {
      head: 'Actions',
      cell: (product) => (
        <RowActions
          acts={['Edit', 'Use as template', product.state === 'published' ? 'Suspend' : 'Publish']}
          of={product.name}
          onChoose={(action) => choose(action, product)}
        />
      ),
    },
  ]
}
