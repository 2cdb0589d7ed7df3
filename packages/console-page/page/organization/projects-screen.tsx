import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import type { ProjectRecord } from '@gateway/api/console/projects'
import type { Column } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import { RowButtons } from '../people/row-buttons.tsx'
import { DeleteProjectDialog } from '../settings/delete-project-dialog.tsx'
import { actionColumn } from './action-column.ts'
import { CreateProjectDialog } from './create-project-dialog.tsx'
import { ListScreen } from './list-screen.tsx'
import { useOrganization, useProjects, useTeams } from './use-organization.ts'

/** The projects of the organization, with what each may use. */
export function OrganizationProjectsScreen() {
  const { tenant, name, isAdmin } = useOrganization()
  const projects = useProjects()
  const teams = new Map(useTeams().data?.map((team) => [team.id, team.name]))
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<ProjectRecord | null>(null)
  const columns: Column<ProjectRecord>[] = [
    {
      head: 'Project',
      cell: (project) => (
        <Link to="/projects/$tenant/$project" params={{ tenant, project: project.id }}>
          {project.name}
        </Link>
      ),
    },
    { head: 'Team', cell: ({ team }) => teams.get(team) ?? <code>{team}</code> },
    {
      head: 'May use',
      cell: (project) => (
        <Link to="/organizations/$tenant/projects/$project" params={{ tenant, project: project.id }}>
          Products<span className="visually-hidden"> of {project.name}</span>
        </Link>
      ),
    },
    {
      head: 'Roles',
      cell: (project) => (
        <Link to="/projects/$tenant/$project/people" params={{ tenant, project: project.id }}>
          People<span className="visually-hidden"> of {project.name}</span>
        </Link>
      ),
    },
    { head: 'Since', cell: ({ createdAt }) => <Moment iso={createdAt} to="day" /> },
    ...actionColumn<ProjectRecord>(isAdmin, (project) => (
      <RowButtons acts={['Delete']} of={project.name} onChoose={() => setDeleted(project)} />
    )),
  ]
  return (
    <ListScreen
      title="Projects"
      of={name}
      actions={
        isAdmin ? (
          <button type="button" className="button main" onClick={() => setCreating(true)}>
            Create a project
          </button>
        ) : undefined
      }
      list={projects}
      columns={columns}
      keyOf={({ id }) => id}
      empty={{
        title: 'There is no project here that you can see',
        text: 'An Admin creates one, or grants you a role.',
      }}
    >
      {isCreating && <CreateProjectDialog onClose={() => setCreating(false)} />}
      {deleted && <DeleteProjectDialog of={deleted} onClose={() => setDeleted(null)} />}
    </ListScreen>
  )
}
