import type { ProductRecord } from '@gateway/api/console/products'
import { ask } from '../api/ask.ts'
import { PriceList } from '../catalogue/price-list.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'

/** Confirms publishing a product at the prices shown. */
export function PublishDialog({ of: product, onClose }: { of: ProductRecord; onClose: () => void }) {
  const { id, name } = product
  const publish = useChange(
    () => ask('PATCH', '/api/v2/products/{product}', { params: { product: id }, body: { state: 'published' } }),
    `${name} published.`,
    ['/api/v2/products'],
  )
  return (
    <FormDialog title={`Publish ${name}?`} submit="Publish product" change={publish} onClose={onClose}>
      <p>
        Every organization can see this product and assign it to its projects. Projects it is already assigned to can
        call it immediately, at these prices:
      </p>
      <PriceList of={product} />
    </FormDialog>
  )
}
