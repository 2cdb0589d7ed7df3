import type { GraphNode } from '@gateway/api/graph'
import { Field } from '../../components/field.tsx'
import { useField } from './use-field.ts'

const text = (value: unknown) => (typeof value === 'string' ? value : '')

/** Title and description of a node. They do not affect execution. */
export function NoteFields({ nodeKey, node }: { nodeKey: string; node: GraphNode }) {
  const setTitle = useField(nodeKey, 'title')
  const setDescription = useField(nodeKey, 'description')
  const { title, description } = node
  return (
    <details open={text(title) !== '' || text(description) !== ''}>
      <summary className="soft">Title and description</summary>
      <div className="stack">
        <Field label="Title">
          {(ids) => (
            <input {...ids} value={text(title)} onChange={({ target }) => setTitle(target.value || undefined)} />
          )}
        </Field>
        <Field label="Description">
          {(ids) => (
            <textarea
              {...ids}
              rows={3}
              value={text(description)}
              onChange={({ target }) => setDescription(target.value || undefined)}
            />
          )}
        </Field>
      </div>
    </details>
  )
}
