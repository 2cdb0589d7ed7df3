import type { ProductRecord } from '@gateway/api/console/products'

/** Assigned products that can't be called because they aren't published. */
export function UnpublishedNotice({
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
