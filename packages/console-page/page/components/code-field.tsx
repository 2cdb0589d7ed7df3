import { TextField } from './text-field.tsx'

/** Code of an authenticator app, or a recovery code. */
export function CodeField({
  label,
  hint,
  code,
  onChange,
}: {
  label: string
  hint?: string
  code: string
  onChange: (code: string) => void
}) {
  return (
    <TextField
      label={label}
      {...(hint !== undefined && { hint })}
      required
      maxLength={64}
      autoComplete="one-time-code"
      value={code}
      onChange={onChange}
    />
  )
}
