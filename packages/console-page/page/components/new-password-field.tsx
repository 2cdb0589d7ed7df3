import { TextField } from './text-field.tsx'

/** Field for a password that is about to be set. */
export function NewPasswordField(of: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <TextField
      {...of}
      type="password"
      autoComplete="new-password"
      hint="At least 12 characters."
      required
      minLength={12}
      maxLength={256}
    />
  )
}
