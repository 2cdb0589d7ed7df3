import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useChange } from '../api/use-change.ts'
import { usePlace, useProducts, useProjectName } from '../api/use-project.ts'
import { Field } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'

/** Lets the project use one more of what is published; for an Admin of its organization. */
export function AssignDialog({ onClose }: { onClose: () => void }) {
  const { tenant, project } = usePlace()
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
    `${name} may use ${product} now.`,
  )
  return (
    <FormDialog
      title={`Assign a product to ${name}`}
      submit="Assign it"
      isReady={product !== ''}
      change={assign}
      onClose={onClose}
    >
      <RefusalBox error={all.error} />
      {all.data && free.length === 0 ? (
        <p>The project may use all that is published already. The platform operator publishes others.</p>
      ) : (
        <Field label="Product" hint="All keys of the project may call it, but those that list what they may call.">
          {(ids) => (
            <select {...ids} value={product} onChange={({ target }) => setChosen(target.value)}>
              {free.map((each) => (
                <option key={each.id} value={each.id}>
                  {each.name} ({each.id})
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </FormDialog>
  )
}
