import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import type { TeamRecord } from '@gateway/api/console/users'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/values.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { actionColumn, ListScreen, useOrganization, useProjects, useTeams } from './list-screen.tsx'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/session.ts'
import { CreateNamedDialog, FormDialog } from '../components/dialog.tsx'
import { useChange } from '../api/queries.ts'

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
      csv: ({ name }) => name,
      cell: (team) => (
        <Link to="/organizations/$tenant/teams/$team" params={{ tenant, team: team.id }}>
          {team.name}
        </Link>
      ),
    },
    {
      head: 'Projects',
      cell: (team) => owned(team).join(', ') || <span className="soft">None</span>,
      csv: (team) => owned(team).join(', '),
    },
    {
      head: 'Created',
      cell: ({ createdAt }) => <Moment iso={createdAt} to="day" />,
      sortBy: ({ createdAt }) => createdAt,
      csv: ({ createdAt }) => createdAt,
    },
    ...actionColumn<TeamRecord>(isAdmin, (team) => (
      <RowActions acts={['Delete']} of={team.name} onChoose={() => setDeleted(team)} />
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
      name="teams"
      searchBy={(team) => `${team.name} ${owned(team).join(' ')}`}
      empty={{ title: 'No teams yet', text: 'Every project belongs to a team. An Admin can create the first one.' }}
    >
      {isCreating && <CreateTeamDialog onClose={() => setCreating(false)} />}
      {deleted && <DeleteTeamDialog of={deleted} owned={owned(deleted)} onClose={() => setDeleted(null)} />}
    </ListScreen>
  )
}

function CreateTeamDialog({ onClose }: { onClose: () => void }) {
  const { tenant } = useScope()
  return (
    <CreateNamedDialog
      title="Create team"
      hint="You become its Team Owner."
      create={(body, idempotencyKey) =>
        ask('POST', '/api/v2/tenants/{tenant}/teams', { params: { tenant }, body, idempotencyKey })
      }
      announcement={(name) => `Team ${name} created.`}
      onClose={onClose}
    />
  )
}

/** Confirms deleting a team, or lists the projects that block it. */
function DeleteTeamDialog({
  of: { id, name },
  owned,
  onClose,
}: {
  of: TeamRecord
  owned: string[]
  onClose: () => void
}) {
  const { tenant } = useScope()
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/teams/{team}', { params: { tenant, team: id } }),
    `Team ${name} deleted.`,
  )
  return (
    <FormDialog
      title={`Delete team ${name}?`}
      submit="Delete team"
      isDanger
      isReady={owned.length === 0}
      change={remove}
      onClose={onClose}
    >
      {owned.length === 0 ? (
        <p>This team owns no projects, so no keys stop working. Its members stay in the organization.</p>
      ) : (
        <p className="notice">
          This team owns {owned.join(', ')}. Delete {owned.length === 1 ? 'it' : 'them'} before deleting the team.
        </p>
      )}
    </FormDialog>
  )
}
