import type { ProductKind } from '@gateway/api/console/products'
import type { CanvasNode } from '../core/canvas-model.ts'
import { priceLabels } from '../core/price-labels.ts'
import { Field } from '../../components/field.tsx'
import { useSession } from '../session.ts'
import { ChatParams } from './chat-params.tsx'
import { MediaParams } from './media-params.tsx'
import { useField } from './use-field.ts'

/** Product that a node calls, with its price and parameters. */
export function ProductForm({ drawn, calls }: { drawn: CanvasNode; calls: Exclude<ProductKind, 'embedding'> }) {
  const { catalogue } = useSession()
  const set = useField(drawn.key, 'product')
  const offered = catalogue.filter(({ kind }) => kind === calls)
  const chosen = typeof drawn.node['product'] === 'string' ? drawn.node['product'] : ''
  const product = offered.find(({ id }) => id === chosen)
  const fault = drawn.problems.find(({ code }) => code.startsWith('product_') || code === 'field_invalid')
  return (
    <>
      <Field
        label="Product"
        {...(product && { hint: priceLabels(product.pricing) })}
        fault={fault ? `${fault.message} ${fault.resolution}` : null}
      >
        {(ids) => (
          <select {...ids} value={chosen} onChange={({ target }) => set(target.value || undefined)}>
            {!product && (
              <option value={chosen}>{chosen === '' ? 'Select a product' : `${chosen} (not callable)`}</option>
            )}
            {offered.map(({ id, name }) => (
              <option key={id} value={id}>
                {name === id ? id : `${name} (${id})`}
              </option>
            ))}
          </select>
        )}
      </Field>
      {calls === 'chat' ? (
        <ChatParams key={drawn.key} drawn={drawn} product={product} />
      ) : (
        <MediaParams drawn={drawn} product={product} calls={calls} />
      )}
    </>
  )
}
