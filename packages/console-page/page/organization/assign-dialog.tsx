import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { readingAll, useChange } from '../api/queries.ts'
import { useScope, useProducts, useProjectName } from '../api/session.ts'
import { Field } from '../components/fields.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Select } from '../components/select.tsx'

/** Assigns a published product to the project. For Admins of the organization. */
export function AssignDialog({ onClose }: { onClose: () => void }) {
  const { tenant, project } = useScope()
  const name = useProjectName()
  const assigned = new Set(useProducts().products.map(({ id }) => id))
  const all = useQuery(readingAll('/api/v2/products', { params: {} }))
  const free = (all.data ?? []).filter(({ id, state }) => state === 'published' && !assigned.has(id))
  const [chosen, setChosen] = useState('')
  const product = chosen || (free[0]?.id ?? '')
  const assign = useChange(
    () =>
      ask('PUT', '/api/v2/tenants/{tenant}/projects/{project}/assignments/{product}', {
        params: { tenant, project, product },
      }),
    `${product} assigned to ${name}.`,
  )
  return (
    <FormDialog
      title={`Assign product to ${name}`}
      submit="Assign product"
      isReady={product !== ''}
      change={assign}
      onClose={onClose}
    >
      <RefusalBox error={all.error} />
      {all.data && free.length === 0 ? (
        <p>All published products are already assigned. The platform operator can publish more.</p>
      ) : (
        <Field label="Product" hint="Available to all keys of the project, except keys limited to selected products.">
          {(ids) => (
            <Select
              {...ids}
              value={product || null}
              options={free.map((each) => [each.id, `${each.name} (${each.id})`])}
              onChange={setChosen}
            />
          )}
        </Field>
      )}
    </FormDialog>
  )
}
