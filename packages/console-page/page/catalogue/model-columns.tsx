import { Badge } from '../components/badge.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import type { Column } from '../components/data-table.tsx'
import { choiceLabels } from './catalogue-filters.tsx'
import type { CatalogueRow } from './catalogue-rows.ts'
import { PriceList } from './price-list.tsx'
import { modalityLabels, parameterLabels, sizeLabels } from './product-labels.ts'

/** Columns of the model list. */
export const modelColumns: Column<CatalogueRow>[] = [
  {
    head: 'Model',
    cell: ({ product: { id, name, description, ownedBy } }) => (
      <>
        {name} <span className="soft small model-about">by {ownedBy}</span>
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
    cell: ({ product }) => sizeLabels(product).map((line) => <div key={line}>{line}</div>),
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
