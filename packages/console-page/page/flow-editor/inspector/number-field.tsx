import { useState } from 'react'
import { Field } from '../../components/field.tsx'

/** Number, omitted if empty. Invalid text stays in the field with its error. */
export function NumberField({
  label,
  hint,
  value,
  onChange,
}: {
  label: string
  hint?: string
  value: unknown
  onChange: (value: number | undefined) => void
}) {
  const [typed, setTyped] = useState(shown(value))
  const read = numberOf(typed)
  const text = read !== null && read !== value ? shown(value) : typed
  return (
    <Field label={label} {...(hint !== undefined && { hint })} fault={read === null ? 'Enter a number.' : null}>
      {(ids) => (
        <input
          {...ids}
          inputMode="decimal"
          autoComplete="off"
          value={text}
          onChange={({ target }) => {
            setTyped(target.value)
            const now = numberOf(target.value)
            if (now !== null) onChange(now)
          }}
        />
      )}
    </Field>
  )
}

const shown = (value: unknown) => (value === undefined ? '' : JSON.stringify(value))

/** Parses a number; undefined if empty, null if invalid. */
function numberOf(text: string): number | undefined | null {
  if (text.trim() === '') return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : null
}
