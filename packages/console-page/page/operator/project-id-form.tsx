import { useState } from 'react'
import { Field } from '../components/field.tsx'

/** Selects a project by ID, in an organization the user doesn't belong to. */
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
        label="Project ID"
        hint="Projects of organizations you don't belong to aren't listed. Their Admin can find the ID in the project's URL."
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
