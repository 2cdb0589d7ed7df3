import { Field } from '../components/fields.tsx'
import { useMe } from '../api/session.ts'
import { Select } from '../components/select.tsx'
import type { ProjectRole, TeamRole, TenantRole } from '@gateway/api/console/fields'

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
      {(ids) => <Select {...ids} value={value} options={roles.map((role) => [role, role])} onChange={onChange} />}
    </Field>
  )
}

/** Descriptions of the roles. */
export const tenantRoleLabels: Record<TenantRole, string> = {
  Member: 'Can see users and teams, and the projects of their teams and grants.',
  Admin:
    'Can manage users, teams, projects and product assignments, and read the audit log. Needs a grant to create keys.',
}

export const teamRoleLabels: Record<TeamRole, string> = {
  'Team Member': "Can see the team's projects, and create keys where a grant allows it.",
  'Team Owner': 'Same access as Team Member. Marks who is responsible for the team.',
}

export const projectRoleLabels: Record<ProjectRole, string> = {
  'Project Viewer': 'Can see the wallet, usage, calls and users of the project.',
  'Project Consumer': "Viewer access, plus flows and, for members of the project's team, creating keys.",
  'Project Owner': 'Consumer access, plus managing users, service tokens and all keys.',
}
