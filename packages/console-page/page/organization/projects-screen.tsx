import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import type { ProjectRecord } from '@gateway/api/console/projects'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/values.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { DeleteProjectDialog } from '../settings/delete-project-dialog.tsx'
import { actionColumn, ListScreen, useOrganization, useProjects, useTeams } from './list-screen.tsx'
import { ask } from '../api/ask.ts'
import { Field, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { useChange, useOnce } from '../api/queries.ts'
import { Select } from '../components/select.tsx'

/** Projects of the organization, with links to their products and users. */
export function OrganizationProjectsScreen() {
  const { tenant, name, isAdmin } = useOrganization()
  const projects = useProjects()
  const teams = new Map(useTeams().data?.map((team) => [team.id, team.name]))
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<ProjectRecord | null>(null)
  const columns: Column<ProjectRecord>[] = [
    {
      head: 'Project',
      sortBy: ({ name }) => name,
      csv: ({ name }) => name,
      cell: (project) => (
        <Link to="/projects/$tenant/$project" params={{ tenant, project: project.id }}>
          {project.name}
        </Link>
      ),
    },
    {
      head: 'Team',
      cell: ({ team }) => teams.get(team) ?? <code>{team}</code>,
      sortBy: ({ team }) => teams.get(team) ?? team,
      csv: ({ team }) => teams.get(team) ?? team,
    },
    {
      head: 'Products',
      cell: (project) => (
        <Link to="/organizations/$tenant/projects/$project" params={{ tenant, project: project.id }}>
          Products<span className="visually-hidden"> of {project.name}</span>
        </Link>
      ),
    },
    {
      head: 'Users',
      cell: (project) => (
        <Link to="/projects/$tenant/$project/users" params={{ tenant, project: project.id }}>
          Users<span className="visually-hidden"> of {project.name}</span>
        </Link>
      ),
    },
    {
      head: 'Created',
      cell: ({ createdAt }) => <Moment iso={createdAt} to="day" />,
      sortBy: ({ createdAt }) => createdAt,
      csv: ({ createdAt }) => createdAt,
    },
    ...actionColumn<ProjectRecord>(isAdmin, (project) => (
      <RowActions acts={['Delete']} of={project.name} onChoose={() => setDeleted(project)} />
    )),
  ]
  return (
    <ListScreen
      title="Projects"
      of={name}
      actions={
        isAdmin ? (
          <button type="button" className="button main" onClick={() => setCreating(true)}>
            Create project
          </button>
        ) : undefined
      }
      list={projects}
      columns={columns}
      keyOf={({ id }) => id}
      name="projects"
      searchBy={(project) => `${project.name} ${teams.get(project.team) ?? ''}`}
      empty={{
        title: 'No projects you can see',
        text: 'Ask an Admin to create a project or to add you to one.',
      }}
    >
      {isCreating && <CreateProjectDialog onClose={() => setCreating(false)} />}
      {deleted && <DeleteProjectDialog of={deleted} onClose={() => setDeleted(null)} />}
    </ListScreen>
  )
}

function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const { tenant, teams: mine } = useOrganization()
  const teams = useTeams().data ?? []
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState('')
  const once = useOnce()
  const team = chosen || (mine[0]?.id ?? teams[0]?.id ?? '')
  const body = { name, team }
  const create = useChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/projects', { params: { tenant }, body, idempotencyKey: once(body) }),
    `Project ${name} created.`,
  )
  return (
    <FormDialog title="Create project" submit="Create project" isReady={team !== ''} change={create} onClose={onClose}>
      <TextField
        label="Name"
        hint="You become its Project Owner. Its wallet is empty until an operator adds funds."
        required
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <Field label="Team" hint="Owns the project permanently. Only its members can create keys for the project.">
        {(ids) => (
          <Select
            {...ids}
            value={team || null}
            options={teams.map((each) => [each.id, each.name])}
            onChange={setChosen}
          />
        )}
      </Field>
      {teams.length === 0 && <p className="notice">Create a team first: every project belongs to a team.</p>}
    </FormDialog>
  )
}
