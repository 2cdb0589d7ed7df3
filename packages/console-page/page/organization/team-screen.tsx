import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { TeamMemberRecord } from '@gateway/api/console/users'
import { readingAll } from '../api/reading.ts'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { UserName } from '../users/user-name.tsx'
import { RowButtons } from '../users/row-buttons.tsx'
import { actionColumn } from './action-column.ts'
import { ListScreen } from './list-screen.tsx'
import { RemoveTeamMemberDialog } from './remove-team-member-dialog.tsx'
import { TeamMemberDialog } from './team-member-dialog.tsx'
import { useOrganization, useTeams } from './use-organization.ts'

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
    { head: 'User', cell: (member) => <UserName of={member} /> },
    { head: 'Role', cell: ({ role }) => role },
    { head: 'Member since', cell: ({ createdAt }) => <Moment iso={createdAt} to="day" /> },
    ...actionColumn<TeamMemberRecord>(isAdmin, (member) => (
      <RowButtons acts={['Edit', 'Remove']} of={member.name} onChoose={(act) => setChosen({ act, member })} />
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
