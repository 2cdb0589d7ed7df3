import { useState, type FormEvent } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { usePlace, useProducts } from '../api/use-project.ts'
import { announce } from '../frame/announcer.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'

/** Gives the project another published product; for administrators of its organization. */
export function AssignProductDialog({ onClose }: { onClose: () => void }) {
  const params = usePlace()
  const client = useQueryClient()
  const assigned = new Set(useProducts().products.map(({ id }) => id))
  const all = useQuery(readingAll('/api/v2/products', { params: {} }))
  const free = (all.data ?? []).filter(({ id, state }) => state === 'published' && !assigned.has(id))
  const [chosen, setChosen] = useState('')
  const product = chosen || (free[0]?.id ?? '')
  const assign = useMutation({
    mutationFn: () =>
      ask('PUT', '/api/v2/tenants/{tenant}/projects/{project}/assignments/{product}', {
        params: { ...params, product },
      }),
    onSuccess: () => {
      announce('The product is assigned.')
      onClose()
      const key = ['/api/v2/tenants/{tenant}/projects/{project}/assignments']
      return client.invalidateQueries({ queryKey: key })
    },
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    assign.mutate()
  }
  return (
    <Dialog title="Assign a product" onClose={onClose}>
      <form className="stack" onSubmit={onSubmit}>
        {all.data && free.length === 0 ? (
          <p>Every published product is assigned. The platform operator publishes others.</p>
        ) : (
          <Field label="Product" hint="All keys of the project may call it, but those that list what they may call.">
            {(ids) => (
              <select {...ids} value={product} onChange={({ target }) => setChosen(target.value)}>
                {free.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <RefusalBox error={all.error ?? assign.error} />
        <div className="buttons">
          <button type="submit" className="button main" disabled={product === '' || assign.isPending}>
            Assign it
          </button>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
