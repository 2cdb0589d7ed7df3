import { useState, type FormEvent } from 'react'
import type { ProductRecord } from '@gateway/contracts/console/products'
import { ApiRefusal } from '@gateway/api-client/failures'
import { ask } from '../api/ask.ts'
import { Dialog } from '../parts/dialog.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { CapabilityFields } from './capability-fields.tsx'
import { IdentityFields } from './identity-fields.tsx'
import { LimitFields } from './product-limit-fields.tsx'
import { PriceFields } from './price-fields.tsx'
import { bodyOf, draftOf, emptyDraft, patchOf } from './product-draft.ts'
import type { ProductDraft } from './typed-product.ts'
import { ProviderFields } from './provider-fields.tsx'
import { useChange } from '../api/use-change.ts'

/** One form for a new product and for a change of one; only what was changed is sent. */
export function ProductDialog({ of: product, onClose }: { of: ProductRecord | null; onClose: () => void }) {
  const [draft, setDraft] = useState(() => (product ? draftOf(product) : emptyDraft('chat')))
  const [isTried, setTried] = useState(false)
  const isPriced = bodyOf(draft) !== null
  const save = useChange(() => send(product, draft), `${draft.name} is saved.`, ['/api/v2/products'])
  const faultOf = (param: string) =>
    save.error instanceof ApiRefusal && save.error.param === param ? save.error.message : null
  const parts = { draft, isNew: product === null, faultOf, onChange: (part: object) => setDraft({ ...draft, ...part }) }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (isPriced) save.mutate(undefined, { onSuccess: onClose })
  }
  return (
    <Dialog title={product ? `Change ${product.name}` : 'Create a product'} stays onClose={onClose}>
      <form className="product-form" onSubmit={onSubmit}>
        <IdentityFields {...parts} />
        <PriceFields {...parts} isTried={isTried} />
        <LimitFields {...parts} />
        <CapabilityFields {...parts} />
        <ProviderFields {...parts} />
        <RefusalBox error={save.error} />
        <div className="buttons">
          <button type="submit" className="button main" disabled={save.isPending}>
            {product ? 'Save the change' : 'Create the draft'}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

async function send(product: ProductRecord | null, draft: ProductDraft) {
  const body = bodyOf(draft)
  if (!body) throw new Error('A price is missing.')
  if (!product) return ask('POST', '/api/v2/products', { params: {}, body })
  return ask('PATCH', '/api/v2/products/{product}', {
    params: { product: product.id },
    body: patchOf(product, draft) ?? {},
  })
}
