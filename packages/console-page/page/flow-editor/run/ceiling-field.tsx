import { Field } from '../../components/field.tsx'
import { microOf } from '../../pure/usd.ts'

/** What an execution may be charged at most, as it is typed. */
export function CeilingField({ typed, onChange }: { typed: string; onChange: (typed: string) => void }) {
  return (
    <Field
      label="Ceiling, in USD"
      hint="It is never charged more. Empty: none."
      fault={ceilingOf(typed) === undefined ? 'Write an amount such as 0.05.' : null}
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
