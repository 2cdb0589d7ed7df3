import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { TeamMemberRecord } from '@gateway/api/console/users'
import { readingAll, useChange } from '../api/queries.ts'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/values.tsx'
import { UserName, UserField, RoleField, teamRoleLabels } from '../users/user-fields.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { actionColumn, ListScreen, useOrganization, useTeams, useProjects, useMembers } from './list-screen.tsx'
import { ask } from '../api/ask.ts'
import { FormDialog } from '../components/dialog.tsx'
import { StoppedKeys } from '../users/stopped-keys.tsx'
import type { TeamRole } from '@gateway/api/console/fields'
import { useScope } from '../api/session.ts'

type Chosen = { act: 'Add' } | { act: 'Edit' | 'Remove'; member: TeamMemberRecord }

/** Members of a team. */
export function TeamScreen() {
  const { tenant, isAdmin } = useOrganization()
  const { team } = useParams({ from: '/organizations/$tenant/teams/$team' })
  const name = useTeams().data?.find(({ id }) => id === team)?.name ?? 'Team'
  const members = useQuery(readingAll('/api/v2/tenants/{tenant}/teams/{team}/members', { params: { tenant, team } }))
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const onClose = () => setChosen(null)
  const columns: Column<TeamMemberRecord>[] = [
    { head: 'User', cell: (member) => <UserName of={member} />, sortBy: ({ name }) => name, csv: ({ email }) => email },
    { head: 'Role', cell: ({ role }) => role, sortBy: ({ role }) => role, csv: ({ role }) => role },
    {
      head: 'Member since',
      cell: ({ createdAt }) => <Moment iso={createdAt} to="day" />,
      sortBy: ({ createdAt }) => createdAt,
      csv: ({ createdAt }) => createdAt,
    },
    ...actionColumn<TeamMemberRecord>(isAdmin, (member) => (
      <RowActions acts={['Edit', 'Remove']} of={member.name} onChoose={(act) => setChosen({ act, member })} />
    )),
  ]
  return (
    <ListScreen
      title={name}
      of="Teams"
      actions={
        isAdmin ? (
          <button type="button" className="button main" onClick={() => setChosen({ act: 'Add' })}>
            Add team member
          </button>
        ) : undefined
      }
      list={members}
      columns={columns}
      keyOf={({ id }) => id}
      name="team-members"
      searchBy={(member) => `${member.name} ${member.email} ${member.role}`}
      empty={{ title: 'No team members yet', text: "Only team members can create keys for the team's projects." }}
    >
      <p className="soft">
        Team members can see the team's projects. With a grant on a project, they can also create keys for it.
        {!isAdmin && ' Only an Admin of the organization can change the team.'}
      </p>
      {chosen?.act === 'Add' && (
        <TeamMemberDialog team={team} name={name} of={null} members={members.data ?? []} onClose={onClose} />
      )}
      {chosen?.act === 'Edit' && (
        <TeamMemberDialog team={team} name={name} of={chosen.member} members={[]} onClose={onClose} />
      )}
      {chosen?.act === 'Remove' && (
        <RemoveTeamMemberDialog team={team} name={name} of={chosen.member} onClose={onClose} />
      )}
    </ListScreen>
  )
}

/** Confirms removing a team member and lists the keys that stop working. */
function RemoveTeamMemberDialog({
  team,
  name,
  of: user,
  onClose,
}: {
  team: string
  name: string
  of: TeamMemberRecord
  onClose: () => void
}) {
  const { tenant } = useOrganization()
  const owned = (useProjects().data ?? []).filter((project) => project.team === team).map(({ id }) => id)
  const remove = useChange(
    () =>
      ask('DELETE', '/api/v2/tenants/{tenant}/teams/{team}/members/{user}', {
        params: { tenant, team, user: user.id },
      }),
    `${user.name} removed from ${name}.`,
  )
  return (
    <FormDialog
      title={`Remove ${user.name} from ${name}?`}
      submit="Remove from team"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>
        {user.name} stays in the organization and keeps their grants, but can't create keys for the team's projects.
      </p>
      <StoppedKeys user={user.id} name={user.name} projects={owned} />
    </FormDialog>
  )
}

/** Adds a team member or changes their role. */
function TeamMemberDialog({
  team,
  name,
  of,
  members,
  onClose,
}: {
  team: string
  name: string
  /** null to select a new team member. */
  of: TeamMemberRecord | null
  /** Current team members. */
  members: TeamMemberRecord[]
  onClose: () => void
}) {
  const { tenant } = useScope()
  const users = useMembers().data ?? []
  const [user, setUser] = useState(of?.id ?? '')
  const [role, setRole] = useState<TeamRole>(of?.role ?? 'Team Member')
  const who = of?.name ?? users.find(({ id }) => id === user)?.name ?? ''
  const change = useChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/teams/{team}/members', {
        params: { tenant, team },
        body: { user, role },
      }),
    `${who} is now ${role} of ${name}.`,
  )
  return (
    <FormDialog
      title={of ? `Change role of ${of.name} in ${name}` : `Add member to ${name}`}
      submit={of ? 'Change role' : 'Add member'}
      isReady={user !== '' && role !== of?.role}
      change={change}
      onClose={onClose}
    >
      {of === null && (
        <UserField
          label="User"
          users={users.filter(({ id }) => !members.some((member) => member.id === id))}
          value={user}
          onChange={setUser}
        />
      )}
      <RoleField words={teamRoleLabels} value={role} onChange={setRole} />
    </FormDialog>
  )
}
