import { Field } from './field.tsx'

const graces = [
  [0, 'Immediately'],
  [3_600, 'In 1 hour'],
  [86_400, 'In 24 hours'],
] as const

/** When an old secret ends, in seconds from now. */
export function GraceField({
  label,
  seconds,
  onChange,
}: {
  label: string
  seconds: number
  onChange: (seconds: number) => void
}) {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} value={seconds} onChange={({ target }) => onChange(Number(target.value))}>
          {graces.map(([after, text]) => (
            <option key={after} value={after}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
