import { useState } from 'react'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { ask } from '../api/ask.ts'
import { useChange, useOnce } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { FormDialog } from '../components/dialog.tsx'
import { Field, TextField } from '../components/fields.tsx'
import { createFlow, FLOW, FLOWS, REVISIONS } from './create-flow.ts'

// Dialogs of the menu of a flow in the list.

const MAX_NAME = 100

interface DialogProps {
  of: SandboxRecord
  onClose: () => void
}

export function RenameFlowDialog({ of, onClose }: DialogProps) {
  const [name, setName] = useState(of.name)
  const [description, setDescription] = useState(of.description)
  return (
    <FormDialog
      title={`Rename ${of.name}`}
      submit="Save"
      change={useFlowChange(of, { name, description }, `Flow ${name} saved.`)}
      onClose={onClose}
    >
      <TextField label="Name" required maxLength={MAX_NAME} value={name} onChange={setName} />
      <Field label="Description">
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            maxLength={2000}
            value={description}
            onChange={({ target }) => setDescription(target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}

export function EditTagsDialog({ of, onClose }: DialogProps) {
  const [text, setText] = useState(of.tags.join(', '))
  const tags = tagsOf(text)
  return (
    <FormDialog
      title={`Tags of ${of.name}`}
      submit="Save"
      change={useFlowChange(of, { tags }, `Tags of ${of.name} saved.`)}
      onClose={onClose}
    >
      <TextField
        label="Tags"
        hint="Separate tags with commas. Up to 10, each of at most 32 characters."
        value={text}
        onChange={setText}
      />
    </FormDialog>
  )
}

/** Creates a flow with the newest graph of another. */
export function DuplicateFlowDialog({ of, onClose }: DialogProps) {
  const scope = useScope()
  const [name, setName] = useState(`Copy of ${of.name}`.slice(0, MAX_NAME))
  const once = useOnce()
  const duplicate = async () => {
    const { tenant } = scope
    const newest = await ask('GET', REVISIONS, { params: { tenant, sandbox: of.id }, query: { limit: 1 } })
    const body = { name, description: of.description, tags: of.tags }
    const graph = newest.data[0]?.graph ?? null
    return createFlow(scope, body, graph, once({ body, graph }))
  }
  return (
    <FormDialog
      title={`Duplicate ${of.name}`}
      submit="Duplicate"
      change={useChange(duplicate, `Flow ${name} created.`, [FLOWS, ACTIVITY])}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="The copy has the newest graph, and is not active."
        required
        maxLength={MAX_NAME}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  )
}

export const ACTIVITY = `${FLOWS}/activity` as const

function useFlowChange(
  { id }: SandboxRecord,
  body: Partial<Pick<SandboxRecord, 'name' | 'description' | 'tags'>>,
  said: string,
) {
  const { tenant } = useScope()
  const change = () => ask('PATCH', FLOW, { params: { tenant, sandbox: id }, body })
  return useChange(change, said, [FLOWS, FLOW])
}

/** Tags written with commas between them, each once. */
function tagsOf(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter((tag) => tag !== ''))]
}
