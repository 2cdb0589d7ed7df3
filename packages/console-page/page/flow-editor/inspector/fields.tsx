import { useState } from 'react'
import { Field } from '../../components/fields.tsx'
import { setField } from '../core/node-commands.ts'
import { useSession } from '../state/open-editor.ts'

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

/** Name that other parts of the graph refer to. Applied on Enter or blur, not on every keystroke. */
export function NameField({
  label,
  typed,
  fault,
  onType,
  onDone,
}: {
  label: string
  typed: string
  fault: string | null
  onType: (typed: string) => void
  onDone: () => void
}) {
  return (
    <Field label={label} fault={fault}>
      {(ids) => (
        <input
          {...ids}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onType(target.value)}
          onBlur={onDone}
          onKeyDown={({ key }) => key === 'Enter' && onDone()}
        />
      )}
    </Field>
  )
}

/** Returns a setter for a field of a node. Typing without a pause is one history step. */
export function useField(key: string, field: string): (value: unknown) => void {
  const { editor } = useSession()
  return (value) => editor.change((graph) => setField(graph, key, field, value), `${key} ${field}`)
}
