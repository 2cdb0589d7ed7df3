import type { InputHTMLAttributes } from 'react'
import { Field } from './field.tsx'

type Input = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  | 'type'
  | 'inputMode'
  | 'pattern'
  | 'required'
  | 'maxLength'
  | 'minLength'
  | 'min'
  | 'max'
  | 'autoComplete'
  | 'placeholder'
>

/** One line of text. */
export function TextField({
  label,
  hint,
  fault = null,
  value,
  onChange,
  ...input
}: Input & { label: string; hint?: string; fault?: string | null; value: string; onChange: (text: string) => void }) {
  return (
    <Field label={label} fault={fault} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <input autoComplete="off" {...ids} {...input} value={value} onChange={({ target }) => onChange(target.value)} />
      )}
    </Field>
  )
}
