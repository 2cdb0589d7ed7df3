import { Field } from '../components/fields.tsx'
import { useMe } from '../api/session.ts'
import { Select } from '../components/select.tsx'

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
        <Select
          {...ids}
          required
          value={value || null}
          placeholder="Select a user"
          options={users
            .toSorted((one, other) => one.name.localeCompare(other.name))
            .map(({ id, name, email }) => [id, `${name} (${email})`])}
          onChange={onChange}
        />
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
