import { useState } from 'react'
import { Field } from '../../components/fields.tsx'
import { sameJson } from '@gateway/flow/compare/graph-units'

/** JSON value. Invalid text stays in the field with its error. */
export function JsonField({
  label,
  value,
  onChange,
  rows = 5,
}: {
  label: string
  value: unknown
  onChange: (value: unknown) => void
  rows?: number
}) {
  const [typed, setTyped] = useState(() => shown(value))
  const read = parsed(typed)
  // The value was changed elsewhere, for example by undo, so the typed text is stale.
  const text = 'value' in read && !sameJson(read.value, value) ? shown(value) : typed
  return (
    <Field label={label} fault={'fault' in read ? read.fault : null}>
      {(ids) => (
        <textarea
          {...ids}
          className="code"
          rows={rows}
          spellCheck={false}
          value={text}
          onChange={({ target }) => {
            setTyped(target.value)
            const now = parsed(target.value)
            if ('value' in now) onChange(now.value)
          }}
        />
      )}
    </Field>
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
