import { useState } from 'react'
import { Field } from '../../components/field.tsx'
import { sameJson } from '@gateway/flow/compare/graph-units'

/** A value as JSON. Text that is not JSON yet stays typed and is reported. */
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
  // Undone, or changed elsewhere: what is typed is another value by now.
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
