import { Field } from '../../components/field.tsx'
import { microOf } from '../../pure/usd.ts'

/** Max cost of an execution, as typed. */
export function CeilingField({ typed, onChange }: { typed: string; onChange: (typed: string) => void }) {
  return (
    <Field
      label="Max cost (USD)"
      hint="The execution never costs more. Leave empty for no limit."
      fault={ceilingOf(typed) === undefined ? 'Enter an amount, for example 0.05.' : null}
    >
      {(ids) => (
        <input
          {...ids}
          inputMode="decimal"
          autoComplete="off"
          placeholder="none"
          value={typed}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

/** Parses an amount to micro-USD; null if empty, undefined if invalid. */
export function ceilingOf(typed: string): number | null | undefined {
  return typed.trim() === '' ? null : (microOf(typed) ?? undefined)
}
