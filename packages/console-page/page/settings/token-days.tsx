import { TextField } from '../components/text-field.tsx'

export const DEFAULT_DAYS = '90'

/** Lifetime of a token, in days. */
export function TokenDays({ days, onChange }: { days: string; onChange: (days: string) => void }) {
  return (
    <TextField
      label="Expires in (days)"
      hint="1 to 365."
      type="number"
      required
      min={1}
      max={365}
      value={days}
      onChange={onChange}
    />
  )
}
