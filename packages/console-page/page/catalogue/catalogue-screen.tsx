import { useNavigate, useSearch, Link } from '@tanstack/react-router'
import { useProjectName, useScope, useCatalogue } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { catalogueRows, type CatalogueRow } from './catalogue-rows.ts'
import { EstimateDialog } from './estimate-dialog.tsx'
import type { ProductRecord } from '@gateway/api/console/products'
import { Badge } from '../components/values.tsx'
import { CopyButton } from '../components/copying.tsx'
import {
  choiceLabels,
  PriceList,
  modalityLabels,
  parameterLabels,
  productFacts,
  type ProductFact,
  sizeLabels,
  kindLabels,
} from './product-labels.tsx'
import { useState } from 'react'
import { FilterChip, useFilter } from '../components/filters.tsx'
import { kinds, orders, uses, type CatalogueView, type Order, MOST_COMPARED } from './catalogue-view.ts'
import { Select } from '../components/select.tsx'

/** Products that the project can call or request, with their prices. */
export function CatalogueScreen() {
  const view = useSearch({ from: '/projects/$tenant/$project/models' })
  const navigate = useNavigate({ from: '/projects/$tenant/$project/models' })
  const { products, assigned, error } = useCatalogue()
  const estimated = products?.find(({ id }) => id === view.estimate)
  const compared = (view.compare ?? []).flatMap((id) => products?.find((product) => product.id === id) ?? [])
  const showEstimate = (id: string | null) =>
    void navigate({ search: ({ estimate: _, ...others }) => ({ ...others, ...(id !== null && { estimate: id }) }) })
  return (
    <Screen title="Models" of={useProjectName()}>
      <CatalogueFilters view={view} />
      {products && assigned && <UnpublishedNotice products={products} assigned={assigned} />}
      {compared.length > 0 && <Comparison of={compared} />}
      <Loaded of={{ data: products && assigned && catalogueRows(products, assigned, view), error }} what="models">
        {(rows) =>
          rows.length === 0 ? (
            <NoModel isEmpty={!products?.some(({ state }) => state === 'published')} />
          ) : (
            <DataTable
              caption="Models"
              columns={[
                ...modelColumns,
                {
                  head: 'Actions',
                  cell: (row) => (
                    <ModelActions
                      of={row}
                      compared={compared.map(({ id }) => id)}
                      onEstimate={() => showEstimate(row.product.id)}
                    />
                  ),
                },
              ]}
              rows={rows}
              keyOf={({ product }) => product.id}
            />
          )
        }
      </Loaded>
      {estimated && <EstimateDialog of={estimated} onClose={() => showEstimate(null)} />}
    </Screen>
  )
}

function NoModel({ isEmpty }: { isEmpty: boolean }) {
  return isEmpty ? (
    <EmptyState title="No models published yet">Ask the platform operator to publish a product.</EmptyState>
  ) : (
    <EmptyState title="No matching models">Clear a filter or shorten the search.</EmptyState>
  )
}

/** Assigned products that can't be called because they aren't published. */
function UnpublishedNotice({
  products,
  assigned,
}: {
  products: readonly ProductRecord[]
  assigned: ReadonlySet<string>
}) {
  const published = new Set(products.filter(({ state }) => state === 'published').map(({ id }) => id))
  const missing = [...assigned].filter((id) => !published.has(id))
  if (missing.length === 0) return null
  return (
    <div className="notice">
      Assigned, and not published: <strong>{missing.join(', ')}</strong>. Its calls are refused until the platform
      operator publishes it again.
    </div>
  )
}

function ModelLink({ id, name }: Pick<ProductRecord, 'id' | 'name'>) {
  return (
    <Link to="/projects/$tenant/$project/models/$product" params={{ ...useScope(), product: id }}>
      {name}
    </Link>
  )
}

/** Columns of the model list. */
const modelColumns: Column<CatalogueRow>[] = [
  {
    head: 'Model',
    cell: ({ product: { id, name, description, ownedBy } }) => (
      <>
        <ModelLink id={id} name={name} /> <span className="soft small model-about">by {ownedBy}</span>
        <div className="small model-about">
          <code>{id}</code> <CopyButton text={id} label={`Copy ID ${id}`} isSmall />
        </div>
        {description !== '' && <p className="soft small model-about">{description}</p>}
      </>
    ),
  },
  { head: 'Price', cell: ({ product }) => <PriceList of={product} /> },
  {
    head: 'Context',
    cell: ({ product }) =>
      sizeLabels(product).map((line) => (
        <div key={line} className="model-size">
          {line}
        </div>
      )),
  },
  {
    head: 'Modalities',
    cell: ({ product }) => (
      <>
        {modalityLabels(product)}
        <details className="small">
          <summary className="soft">Parameters</summary>
          {parameterLabels(product)}
        </details>
      </>
    ),
  },
  {
    head: 'State',
    cell: ({ isAssigned }) => (
      <Badge tone={isAssigned ? 'good' : 'plain'} text={isAssigned ? choiceLabels.callable : choiceLabels.askable} />
    ),
  },
]

/** Side-by-side comparison of models. */
function Comparison({ of: products }: { of: ProductRecord[] }) {
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
            cell: (fact: ProductFact) => fact.of(product),
          })),
        ]}
        rows={productFacts}
        keyOf={({ what }) => what}
      />
    </section>
  )
}

const orderLabels: Record<Order, string> = {
  name: 'By name',
  cheapest: 'Cheapest first',
  priciest: 'Most expensive first',
  context: 'Longest context first',
}

/** Search, filters and sort order, kept in the URL. */
function CatalogueFilters({ view: { q = '', kind, use, sort = 'name' } }: { view: CatalogueView }) {
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
      <Select
        aria-label="Order"
        value={sort}
        options={orders.map((each) => [each, orderLabels[each]])}
        onChange={(chosen) => set('sort')(chosen)}
      />
    </div>
  )
}

/** Actions on a model: try it, estimate its cost, compare it. */
function ModelActions({
  of: { product, isAssigned },
  compared,
  onEstimate,
}: {
  of: CatalogueRow
  compared: string[]
  onEstimate: () => void
}) {
  const navigate = useNavigate({ from: '/projects/$tenant/$project/models' })
  const scope = useScope()
  const { id, name } = product
  const isCompared = compared.includes(id)
  const others = compared.filter((each) => each !== id)
  const compare = isCompared ? others : [...others, id]
  const toggle = () =>
    void navigate({
      search: ({ compare: _, ...rest }) => ({ ...rest, ...(compare.length > 0 && { compare }) }),
      resetScroll: false,
    })
  return (
    <div className="catalogue-actions">
      {!isAssigned && <p className="soft small">An Admin of your organization can assign it.</p>}
      <div className="buttons">
        {isAssigned && product.kind === 'chat' && (
          <Link
            className="button small"
            aria-label={`Try ${name}`}
            to="/projects/$tenant/$project/playground"
            params={scope}
            search={{ model: id }}
          >
            Try
          </Link>
        )}
        <button type="button" className="button small" aria-label={`Cost of ${name}`} onClick={onEstimate}>
          Cost
        </button>
        <button
          type="button"
          className="button small"
          aria-label={`Compare ${name}`}
          aria-pressed={isCompared}
          disabled={!isCompared && compared.length >= MOST_COMPARED}
          onClick={toggle}
        >
          Compare
        </button>
      </div>
    </div>
  )
}
