import type { ProjectRole, TeamRole, TenantRole } from '@gateway/api/console/fields'

/** What a role allows, as people read it. */
export const tenantRoleWords: Record<TenantRole, string> = {
  Member: 'Sees people and teams, and the projects of their teams and grants.',
  Admin: 'Manages people, teams, projects and what these may use; reads the audit. Makes no keys without a grant.',
}

export const teamRoleWords: Record<TeamRole, string> = {
  'Team Member': 'Sees the projects of the team, and makes keys where a grant allows it, too.',
  'Team Owner': 'The same; says who answers for the team.',
}

export const projectRoleWords: Record<ProjectRole, string> = {
  'Project Viewer': 'Sees the wallet, usage, calls and people of the project.',
  'Project Consumer': 'The same, and uses flows and makes keys, if they are in the team of the project.',
  'Project Owner': 'The same, and says who has which role here, makes tokens for programs, and manages all keys.',
}
