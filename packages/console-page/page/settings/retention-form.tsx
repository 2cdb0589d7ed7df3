import { useState, type FormEvent } from 'react'
import type { ProjectRecord } from '@gateway/api/console/projects'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { TextField } from '../components/text-field.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useDraft } from '../components/use-draft.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { useChange } from '../api/use-change.ts'

/** Asset retention of the project. */
export function RetentionForm({
  project: { assetRetentionDays: before },
  isOwner,
}: {
  project: ProjectRecord
  isOwner: boolean
}) {
  const params = useScope()
  const [days, setDays] = useDraft(before === null ? '' : String(before))
  const [isAsking, setAsking] = useState(false)
  const asked = days.trim() === '' ? null : Number(days)
  const deletesSome = asked !== null && (before === null || asked < before)
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/projects/{project}', { params, body: { assetRetentionDays: asked } }),
    'Asset retention saved.',
  )
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (deletesSome) setAsking(true)
    else change.mutate(undefined)
  }
  return (
    <section className="card stack" aria-label="Assets">
      <h2>Assets</h2>
      {isOwner ? (
        <form className="stack" onSubmit={onSubmit}>
          <TextField
            label="Delete assets after (days)"
            hint="Leave empty to keep assets indefinitely. A shorter time deletes older assets."
            type="number"
            min={1}
            value={days}
            onChange={setDays}
          />
          {!isAsking && <RefusalBox error={change.error} />}
          <div className="buttons">
            <button type="submit" className="button" disabled={change.isPending || asked === before}>
              Save
            </button>
          </div>
        </form>
      ) : (
        <p>{before === null ? 'Assets are kept indefinitely.' : `Assets are deleted after ${before} days.`}</p>
      )}
      {isAsking && (
        <FormDialog
          title={`Delete assets older than ${asked} days?`}
          submit="Delete assets"
          isDanger
          change={change}
          onClose={() => setAsking(false)}
        >
          <p>
            Older assets are permanently deleted within minutes, and newer ones once they reach this age. Flows that
            reference them fail. This can't be undone.
          </p>
        </FormDialog>
      )}
    </section>
  )
}
