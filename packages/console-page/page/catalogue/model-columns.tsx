import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import type { Column } from '../parts/data-table.tsx'
import { choiceWords } from './catalogue-filters.tsx'
import type { CatalogueRow } from './catalogue-rows.ts'
import { PriceList } from './price-list.tsx'
import { modalityWords, parameterWords, sizeWords } from './product-words.ts'

/** What one has to know of a model before calling it. */
export const modelColumns: Column<CatalogueRow>[] = [
  {
    head: 'Model',
    cell: ({ product: { id, name, description, ownedBy } }) => (
      <>
        {name} <span className="soft small model-about">by {ownedBy}</span>
        <div className="small model-about">
          <code>{id}</code> <CopyButton text={id} label={`Copy the id ${id}`} isSmall />
        </div>
        {description !== '' && <p className="soft small model-about">{description}</p>}
      </>
    ),
  },
  { head: 'Price', cell: ({ product }) => <PriceList of={product} /> },
  {
    head: 'Context',
    cell: ({ product }) => sizeWords(product).map((line) => <div key={line}>{line}</div>),
  },
  {
    head: 'Takes and gives',
    cell: ({ product }) => (
      <>
        {modalityWords(product)}
        <details className="small">
          <summary className="soft">Parameters</summary>
          {parameterWords(product)}
        </details>
      </>
    ),
  },
  {
    head: 'State',
    cell: ({ isAssigned }) => (
      <Badge tone={isAssigned ? 'good' : 'plain'} text={isAssigned ? choiceWords.callable : choiceWords.askable} />
    ),
  },
]
