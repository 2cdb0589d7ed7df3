import { useState } from 'react'
import { CodeEditor } from '../../components/code-editor.tsx'
import type { HeldText } from './fields.tsx'
import { sameJson } from '@gateway/flow/compare/graph-units'

/** JSON value. Invalid text stays in the field with its error. */
export function JsonField({
  label,
  hint,
  fault = null,
  held,
  value,
  onChange,
  rows = 5,
}: {
  label: string
  hint?: string
  /** Problem of the value that the field has. */
  fault?: string | null
  held?: HeldText
  value: unknown
  onChange: (value: unknown) => void
  rows?: number
}) {
  const [typed, setTyped] = useState(() => held?.get() ?? shown(value))
  const read = parsed(typed)
  // The value was changed elsewhere, for example by undo, so the typed text is stale.
  const text = 'value' in read && !sameJson(read.value, value) ? shown(value) : typed
  return (
    <CodeEditor
      language="json"
      label={label}
      {...(hint !== undefined && { hint })}
      fault={'fault' in read ? read.fault : fault}
      rows={rows}
      value={text}
      onChange={(text) => {
        setTyped(text)
        const now = parsed(text)
        held?.set('fault' in now ? text : null)
        if ('value' in now) onChange(now.value)
      }}
    />
  )
}

const shown = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, null, 2))

function parsed(text: string): { value: unknown } | { fault: string } {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { fault: `Invalid JSON: ${(error as Error).message}.` }
  }
}
