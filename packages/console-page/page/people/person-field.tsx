import { Field } from '../parts/field.tsx'

/** Select for a person, sorted by name. */
export function PersonField({
  label,
  people,
  value,
  onChange,
}: {
  label: string
  people: { id: string; name: string; email: string }[]
  value: string
  onChange: (id: string) => void
}) {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} required value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">Select a person</option>
          {people
            .toSorted((one, other) => one.name.localeCompare(other.name))
            .map(({ id, name, email }) => (
              <option key={id} value={id}>
                {name} ({email})
              </option>
            ))}
        </select>
      )}
    </Field>
  )
}
