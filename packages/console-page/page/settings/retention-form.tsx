import { useState, type FormEvent } from 'react'
import type { ProjectRecord } from '@gateway/api/console/projects'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { TextField } from '../parts/text-field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useDraft } from '../parts/use-draft.ts'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { useChange } from '../api/use-change.ts'

/** For how long the assets of the project are kept. */
export function RetentionForm({
  project: { assetRetentionDays: before },
  isOwner,
}: {
  project: ProjectRecord
  isOwner: boolean
}) {
  const params = usePlace()
  const [days, setDays] = useDraft(before === null ? '' : String(before))
  const [isAsking, setAsking] = useState(false)
  const asked = days.trim() === '' ? null : Number(days)
  const deletesSome = asked !== null && (before === null || asked < before)
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/projects/{project}', { params, body: { assetRetentionDays: asked } }),
    'The time for which assets are kept is changed.',
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
            label="Assets are deleted after, in days"
            hint="Empty: they are kept for ever. A shorter time deletes older ones."
            type="number"
            min={1}
            value={days}
            onChange={setDays}
          />
          {!isAsking && <RefusalBox error={change.error} />}
          <div className="buttons">
            <button type="submit" className="button" disabled={change.isPending || asked === before}>
              Keep them so
            </button>
          </div>
        </form>
      ) : (
        <p>{before === null ? 'They are kept for ever.' : `They are deleted after ${before} days.`}</p>
      )}
      {isAsking && (
        <FormDialog
          title={`Delete what is older than ${asked} days?`}
          submit="Delete it"
          cancel="Keep it"
          isDanger
          change={change}
          onClose={() => setAsking(false)}
        >
          <p>
            Images and sounds that are older are deleted within minutes, for ever, and so are others as they become so.
            Flows that name them fail. There is no way back.
          </p>
        </FormDialog>
      )}
    </section>
  )
}
