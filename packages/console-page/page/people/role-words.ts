import type { ProjectRole, TeamRole, TenantRole } from '@gateway/api/console/fields'

/** Descriptions of the roles. */
export const tenantRoleWords: Record<TenantRole, string> = {
  Member: 'Can see people and teams, and the projects of their teams and grants.',
  Admin:
    'Can manage people, teams, projects and product assignments, and read the audit log. Needs a grant to create keys.',
}

export const teamRoleWords: Record<TeamRole, string> = {
  'Team Member': "Can see the team's projects, and create keys where a grant allows it.",
  'Team Owner': 'Same access as Team Member. Marks who is responsible for the team.',
}

export const projectRoleWords: Record<ProjectRole, string> = {
  'Project Viewer': 'Can see the wallet, usage, calls and people of the project.',
  'Project Consumer': "Viewer access, plus flows and, for members of the project's team, creating keys.",
  'Project Owner': 'Consumer access, plus managing people, service tokens and all keys.',
}
