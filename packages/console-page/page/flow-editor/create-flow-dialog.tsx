import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { newIdempotencyKey } from '../keys/new-idempotency-key.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/sandboxes'

/** Makes an empty flow, and opens its editor. */
export function CreateFlowDialog({ onClose }: { onClose: () => void }) {
  const params = usePlace()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [key] = useState(newIdempotencyKey)
  const create = useMutation({
    mutationFn: () => ask('POST', PATH, { params, body: { name }, idempotencyKey: key }),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: [PATH] })
      return navigate({ to: '/projects/$tenant/$project/flows/$sandbox', params: { ...params, sandbox: id } })
    },
  })
  return (
    <Dialog title="Create a flow" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <Field label="Name">
          {(ids) => (
            <input {...ids} required maxLength={100} value={name} onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
        <RefusalBox error={create.error} />
        <div className="buttons">
          <button type="submit" className="button main" disabled={create.isPending}>
            Create it
          </button>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
