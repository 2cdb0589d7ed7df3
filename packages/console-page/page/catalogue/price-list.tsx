import type { ProductRecord } from '@gateway/api/console/products'
import { priceLines } from './product-labels.ts'

/** Prices of a product, one per line. */
export function PriceList({ of: { kind, pricing } }: { of: Pick<ProductRecord, 'kind' | 'pricing'> }) {
  return (
    <ul>
      {priceLines(kind, pricing).map(({ what, usd }) => (
        <li key={what}>
          <span className="figure">{usd}</span> <span className="soft small">{what}</span>
        </li>
      ))}
    </ul>
  )
}
