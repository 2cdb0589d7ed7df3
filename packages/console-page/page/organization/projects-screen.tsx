import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import type { ProjectRecord } from '@gateway/api/console/projects'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { RowButtons } from '../users/row-buttons.tsx'
import { DeleteProjectDialog } from '../settings/delete-project-dialog.tsx'
import { actionColumn } from './action-column.ts'
import { CreateProjectDialog } from './create-project-dialog.tsx'
import { ListScreen } from './list-screen.tsx'
import { useOrganization, useProjects, useTeams } from './use-organization.ts'

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
      cell: (project) => (
        <Link to="/projects/$tenant/$project" params={{ tenant, project: project.id }}>
          {project.name}
        </Link>
      ),
    },
    { head: 'Team', cell: ({ team }) => teams.get(team) ?? <code>{team}</code> },
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
    },
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
            Create project
          </button>
        ) : undefined
      }
      list={projects}
      columns={columns}
      keyOf={({ id }) => id}
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
