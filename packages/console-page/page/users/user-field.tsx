import { Field } from '../components/fields.tsx'
import { useMe } from '../api/session.ts'

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

/** Name of a user, with the email to tell namesakes apart. */
export function UserName({ of: { id, name, email } }: { of: { id: string; name: string; email: string } }) {
  const isMe = useMe().id === id
  return (
    <>
      {name}
      {isMe && <span className="soft"> (you)</span>}
      <div className="soft small">{email}</div>
    </>
  )
}
