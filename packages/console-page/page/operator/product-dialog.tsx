import { useState } from 'react'
import type { ProductRecord } from '@gateway/api/console/products'
import { ask } from '../api/ask.ts'
import { faultAt } from '../api/failed.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { CapabilityFields } from './capability-fields.tsx'
import { IdentityFields } from './identity-fields.tsx'
import { LimitFields } from './product-limit-fields.tsx'
import { PriceFields } from './price-fields.tsx'
import { bodyOf, draftOf, emptyDraft, patchOf } from './product-draft.ts'
import type { ProductDraft } from './typed-product.ts'
import { ProviderFields } from './provider-fields.tsx'
import { useChange } from '../api/use-change.ts'

/** Form that creates or edits a product. An edit sends the changed fields only. */
export function ProductDialog({ of: product, onClose }: { of: ProductRecord | null; onClose: () => void }) {
  const [draft, setDraft] = useState(() => (product ? draftOf(product) : emptyDraft('chat')))
  const [isTried, setTried] = useState(false)
  const save = useChange(() => send(product, draft), `${draft.name} saved.`, ['/api/v2/products'])
  const faultOf = (param: string) => faultAt(save.error, param)
  const parts = { draft, isNew: product === null, faultOf, onChange: (part: object) => setDraft({ ...draft, ...part }) }
  return (
    <FormDialog
      title={product ? `Edit ${product.name}` : 'Create product'}
      submit={product ? 'Save changes' : 'Create draft'}
      stays
      isFaulty={bodyOf(draft) === null}
      change={save}
      onTry={() => setTried(true)}
      onClose={onClose}
    >
      <div className="product-form">
        <IdentityFields {...parts} />
        <PriceFields {...parts} isTried={isTried} />
        <LimitFields {...parts} />
        <CapabilityFields {...parts} />
        <ProviderFields {...parts} />
      </div>
    </FormDialog>
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
