import { Field } from '../components/fields.tsx'
import type { ProjectRole, TeamRole, TenantRole } from '@gateway/api/console/fields'
import { Select } from '../components/select.tsx'

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
