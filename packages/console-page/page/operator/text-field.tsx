import { Field } from '../parts/field.tsx'

/** A line of text with its label; numbers too, which the service judges. */
export function TextField({
  label,
  value,
  hint,
  fault = null,
  isOptional = false,
  isNumber = false,
  onChange,
}: {
  label: string
  value: string
  hint?: string
  fault?: string | null
  isOptional?: boolean
  isNumber?: boolean
  onChange: (value: string) => void
}) {
  return (
    <Field label={label} fault={fault} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <input
          {...ids}
          autoComplete="off"
          required={!isOptional}
          {...(isNumber && { inputMode: 'decimal' as const, pattern: '[0-9]+([.][0-9]+)?' })}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
