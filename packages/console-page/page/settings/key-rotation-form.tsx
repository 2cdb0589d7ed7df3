import { useState, type FormEvent } from 'react'
import type { ProjectRecord } from '@gateway/api/console/projects'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { useScope } from '../api/use-project.ts'
import { RefusalBox } from '../components/refusal-box.tsx'

/** Whether keys of the project may rotate themselves. */
export function KeyRotationForm({
  project: { keySelfRotation: before },
  isOwner,
}: {
  project: ProjectRecord
  isOwner: boolean
}) {
  const params = useScope()
  const [chosen, setAllowed] = useState<boolean | null>(null)
  const isAllowed = chosen ?? before
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/projects/{project}', { params, body: { keySelfRotation: isAllowed } }),
    'Key rotation saved.',
  )
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(undefined)
  }
  return (
    <section className="card stack" aria-label="Key rotation">
      <h2>Key rotation</h2>
      {isOwner ? (
        <form className="stack" onSubmit={onSubmit}>
          <label className="choice">
            <input type="checkbox" checked={isAllowed} onChange={({ target }) => setAllowed(target.checked)} />
            Keys can rotate themselves
          </label>
          <p className="soft small">
            A program can then replace the secret of its key, and so can a thief of the key. Every rotation raises an
            alert. Users can always rotate keys.
          </p>
          <RefusalBox error={change.error} />
          <div className="buttons">
            <button type="submit" className="button" disabled={change.isPending || isAllowed === before}>
              Save
            </button>
          </div>
        </form>
      ) : (
        <p>{before ? 'Keys can rotate themselves.' : "Keys can't rotate themselves."}</p>
      )}
    </section>
  )
}
