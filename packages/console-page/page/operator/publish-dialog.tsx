import type { ProductRecord } from '@gateway/api/console/products'
import { ask } from '../api/ask.ts'
import { PriceList } from '../catalogue/price-list.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'

/** Shows at which prices before a product can be called. */
export function PublishDialog({ of: product, onClose }: { of: ProductRecord; onClose: () => void }) {
  const { id, name } = product
  const publish = useChange(
    () => ask('PATCH', '/api/v2/products/{product}', { params: { product: id }, body: { state: 'published' } }),
    `${name} is published.`,
    ['/api/v2/products'],
  )
  return (
    <FormDialog title={`Publish ${name}?`} submit="Publish it" change={publish} onClose={onClose}>
      <p>
        Every organization sees it then, and may assign it to its projects. Projects that have it already call it at
        once, at these prices:
      </p>
      <PriceList of={product} />
    </FormDialog>
  )
}
