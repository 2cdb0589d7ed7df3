import { useState } from 'react'
import { Field } from '../parts/field.tsx'

/** The id of a project of an organization that one does not belong to. */
export function ProjectIdForm({ project, onChoose }: { project: string; onChoose: (id: string) => void }) {
  const [typed, setTyped] = useState(project)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onChoose(typed.trim())
      }}
    >
      <Field
        label="Id of the project"
        hint="Projects of organizations that you don't belong to are not listed. Their Admin sees the id in the address of the project."
      >
        {(ids) => (
          <span className="id-choice">
            <input
              {...ids}
              required
              autoComplete="off"
              placeholder="prj_…"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
            <button type="submit" className="button">
              Open
            </button>
          </span>
        )}
      </Field>
    </form>
  )
}
