import type { ProductRecord } from '@gateway/api/console/products'
import { PriceList } from '../catalogue/price-list.tsx'
import { kindLabels, sizeLabels, stateLabels } from '../catalogue/product-labels.ts'
import { Badge } from '../components/badge.tsx'
import type { Column } from '../components/data-table.tsx'

export type ProductAction = 'change' | 'publish' | 'suspend'

/** Columns of the product list for operators. */
export function productColumns(
  choose: (action: ProductAction, product: ProductRecord) => void,
): Column<ProductRecord>[] {
  return [
    {
      head: 'Product',
      sortBy: ({ name }) => name,
      cell: ({ id, name, kind }) => (
        <>
          {name} <span className="soft small">{kindLabels[kind]}</span>
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
    { head: 'State', cell: ({ state }) => <Badge {...stateLabels[state]} />, sortBy: ({ state }) => state },
    {
      head: 'Actions',
      cell: (product) => (
        <div className="buttons">
          <Action word="Edit" of={product} onClick={() => choose('change', product)} />
          {product.state === 'published' ? (
            <Action word="Suspend" of={product} onClick={() => choose('suspend', product)} />
          ) : (
            <Action word="Publish" of={product} onClick={() => choose('publish', product)} />
          )}
        </div>
      ),
    },
  ]
}

function Action({ word, of: { name }, onClick }: { word: string; of: ProductRecord; onClick: () => void }) {
  return (
    <button
      type="button"
      className={`button small ${word === 'Suspend' ? 'danger' : ''}`}
      aria-label={`${word} ${name}`}
      onClick={onClick}
    >
      {word}
    </button>
  )
}
