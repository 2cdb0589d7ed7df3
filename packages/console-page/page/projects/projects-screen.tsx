import { useMe } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { Appointments } from './appointments.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { MeRecord } from '@gateway/api/console/sign-in'
import { readingAll } from '../api/queries.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/values.tsx'

/** Projects the user can see, by organization. */
export function ProjectsScreen() {
  const { tenants, email } = useMe()
  return (
    <Screen title="Projects">
      <Appointments />
      {tenants.length === 0 && (
        <EmptyState title="You aren't in an organization yet">
          Ask an Admin of your organization to invite {email}.
        </EmptyState>
      )}
      {tenants
        .filter(({ needsSecondFactor }) => !needsSecondFactor)
        .map((tenant) => (
          <OrganizationProjects key={tenant.id} tenant={tenant} />
        ))}
    </Screen>
  )
}

type Tenant = MeRecord['tenants'][number]
interface Row {
  id: string
  name: string
  team: string
  createdAt: string
}

function OrganizationProjects({ tenant }: { tenant: Tenant }) {
  const projects = useQuery(readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant: tenant.id } }))
  return (
    <section className="stack" aria-label={tenant.name}>
      <h2>
        {tenant.name} <span className="soft small">{tenant.role}</span>
      </h2>
      <Loaded of={projects} what="projects">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No projects you can see">
              Ask an Admin of the organization to create a project or to add you to one.
            </EmptyState>
          ) : (
            <DataTable
              caption={`Projects of ${tenant.name}`}
              columns={columnsOf(tenant)}
              rows={rows}
              keyOf={({ id }) => id}
              isLong
            />
          )
        }
      </Loaded>
    </section>
  )
}

function columnsOf(tenant: Tenant): Column<Row>[] {
  const roles = new Map(tenant.projects.map(({ id, role }) => [id, role]))
  const teams = new Map(tenant.teams.map(({ id, name }) => [id, name]))
  return [
    {
      head: 'Project',
      sortBy: ({ name }) => name,
      cell: ({ id, name }) => (
        <Link to="/projects/$tenant/$project" params={{ tenant: tenant.id, project: id }}>
          {name}
        </Link>
      ),
    },
    { head: 'My role', cell: ({ id }) => roles.get(id) ?? 'None' },
    { head: 'Team', cell: ({ team }) => teams.get(team) ?? <code>{team}</code> },
    {
      head: 'Created',
      cell: ({ createdAt }) => <Moment iso={createdAt} to="day" />,
      sortBy: ({ createdAt }) => createdAt,
    },
  ]
}
