import { useState } from 'react'
import type { ProductRecord } from '@gateway/contracts/console/products'
import { ask } from '../api/ask.ts'
import { usePlace, useProjectName } from '../api/use-project.ts'
import { Field } from '../parts/field.tsx'
import { FormDialog } from '../people/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'

/** Lets the project use one more of what is published. */
export function AssignDialog({ products, onClose }: { products: ProductRecord[]; onClose: () => void }) {
  const { tenant, project } = usePlace()
  const name = useProjectName()
  const [chosen, setChosen] = useState('')
  const product = chosen || (products[0]?.id ?? '')
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
      {products.length === 0 ? (
        <p>The project may use all that is published already.</p>
      ) : (
        <Field label="Product" hint="Every key of the project that may call everything can call it at once.">
          {(ids) => (
            <select {...ids} value={product} onChange={({ target }) => setChosen(target.value)}>
              {products.map((each) => (
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
