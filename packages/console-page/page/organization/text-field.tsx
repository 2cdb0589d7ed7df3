import type { InputHTMLAttributes } from 'react'
import { Field } from '../parts/field.tsx'

type Input = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'type' | 'required' | 'maxLength' | 'minLength' | 'min' | 'max' | 'autoComplete' | 'placeholder'
>

/** One line of text. */
export function TextField({
  label,
  hint,
  value,
  onChange,
  ...input
}: Input & { label: string; hint?: string; value: string; onChange: (text: string) => void }) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <input autoComplete="off" {...ids} {...input} value={value} onChange={({ target }) => onChange(target.value)} />
      )}
    </Field>
  )
}
