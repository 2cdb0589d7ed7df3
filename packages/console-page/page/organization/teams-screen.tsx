import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import type { TeamRecord } from '@gateway/api/console/users'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { RowButtons } from '../users/row-buttons.tsx'
import { actionColumn } from './action-column.ts'
import { CreateTeamDialog } from './create-team-dialog.tsx'
import { DeleteTeamDialog } from './delete-team-dialog.tsx'
import { ListScreen } from './list-screen.tsx'
import { useOrganization, useProjects, useTeams } from './use-organization.ts'

/** Teams of the organization and the projects they own. */
export function TeamsScreen() {
  const { tenant, name, isAdmin } = useOrganization()
  const teams = useTeams()
  const projects = useProjects().data ?? []
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<TeamRecord | null>(null)
  const owned = (team: TeamRecord) => projects.filter((project) => project.team === team.id).map((each) => each.name)
  const columns: Column<TeamRecord>[] = [
    {
      head: 'Team',
      sortBy: ({ name }) => name,
      cell: (team) => (
        <Link to="/organizations/$tenant/teams/$team" params={{ tenant, team: team.id }}>
          {team.name}
        </Link>
      ),
    },
    { head: 'Projects', cell: (team) => owned(team).join(', ') || <span className="soft">None</span> },
    {
      head: 'Created',
      cell: ({ createdAt }) => <Moment iso={createdAt} to="day" />,
      sortBy: ({ createdAt }) => createdAt,
    },
    ...actionColumn<TeamRecord>(isAdmin, (team) => (
      <RowButtons acts={['Delete']} of={team.name} onChoose={() => setDeleted(team)} />
    )),
  ]
  return (
    <ListScreen
      title="Teams"
      of={name}
      actions={
        isAdmin ? (
          <button type="button" className="button main" onClick={() => setCreating(true)}>
            Create team
          </button>
        ) : undefined
      }
      list={teams}
      columns={columns}
      keyOf={({ id }) => id}
      empty={{ title: 'No teams yet', text: 'Every project belongs to a team. An Admin can create the first one.' }}
    >
      {isCreating && <CreateTeamDialog onClose={() => setCreating(false)} />}
      {deleted && <DeleteTeamDialog of={deleted} owned={owned(deleted)} onClose={() => setDeleted(null)} />}
    </ListScreen>
  )
}
