import { Field } from '../components/field.tsx'

/** Select for a role, with a description of the selected one. */
export function RoleField<Role extends string>({
  words,
  roles = Object.keys(words) as Role[],
  value,
  onChange,
}: {
  words: Readonly<Record<Role, string>>
  roles?: readonly Role[]
  value: Role
  onChange: (role: Role) => void
}) {
  return (
    <Field label="Role" hint={words[value]}>
      {(ids) => (
        <select {...ids} value={value} onChange={({ target }) => onChange(target.value as Role)}>
          {roles.map((role) => (
            <option key={role} value={role}>
              {role}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
