import { Field } from '../components/field.tsx'

/** Select for a user, sorted by name. */
export function UserField({
  label,
  users,
  value,
  onChange,
}: {
  label: string
  users: { id: string; name: string; email: string }[]
  value: string
  onChange: (id: string) => void
}) {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} required value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">Select a user</option>
          {users
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
