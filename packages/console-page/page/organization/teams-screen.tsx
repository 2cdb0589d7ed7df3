import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import type { TeamRecord } from '@gateway/api/console/people'
import type { Column } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import { RowButtons } from '../people/row-buttons.tsx'
import { actionColumn } from './action-column.ts'
import { CreateTeamDialog } from './create-team-dialog.tsx'
import { DeleteTeamDialog } from './delete-team-dialog.tsx'
import { ListScreen } from './list-screen.tsx'
import { useOrganization, useProjects, useTeams } from './use-organization.ts'

/** The teams, which own the projects. */
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
      cell: (team) => (
        <Link to="/organizations/$tenant/teams/$team" params={{ tenant, team: team.id }}>
          {team.name}
        </Link>
      ),
    },
    { head: 'Owns the projects', cell: (team) => owned(team).join(', ') || <span className="soft">none</span> },
    { head: 'Since', cell: ({ createdAt }) => <Moment iso={createdAt} to="day" /> },
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
            Create a team
          </button>
        ) : undefined
      }
      list={teams}
      columns={columns}
      keyOf={({ id }) => id}
      empty={{ title: 'There is no team', text: 'Each project belongs to a team. An Admin creates the first one.' }}
    >
      {isCreating && <CreateTeamDialog onClose={() => setCreating(false)} />}
      {deleted && <DeleteTeamDialog of={deleted} owned={owned(deleted)} onClose={() => setDeleted(null)} />}
    </ListScreen>
  )
}
