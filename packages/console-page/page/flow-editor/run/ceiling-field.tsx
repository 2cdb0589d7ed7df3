import { Field } from '../../components/field.tsx'
import { microOf } from '../../pure/usd.ts'

/** What an execution may be charged at most, as it is typed. */
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

/** Micro-USD; null of nothing, undefined of what is not an amount. */
export function ceilingOf(typed: string): number | null | undefined {
  return typed.trim() === '' ? null : (microOf(typed) ?? undefined)
}
