import { useState } from 'react'
import { useOwningTeam, useProjectName, useScope, useMyRoles } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { Loaded } from '../components/list-states.tsx'
import { Appointments } from '../projects/appointments.tsx'
import {
  hasOwner,
  isLastOwner,
  issuesKeys,
  lackForKeys,
  projectAccess,
  reasonsFor,
  type ProjectAccess,
} from './project-access.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { readAgain, readingAll, useChange } from '../api/queries.ts'
import { Badge } from '../components/values.tsx'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { UserName, UserField, RoleField, projectRoleLabels } from './user-fields.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { ask } from '../api/ask.ts'
import { FormDialog } from '../components/dialog.tsx'
import { StoppedKeys } from './stopped-keys.tsx'
import type { ProjectRole } from '@gateway/api/console/fields'

/** Users with access to a project, their role and its source. */
export function UsersScreen() {
  const { project } = useScope()
  const { isAdmin, isOwner } = useMyRoles()
  const { users, team, error } = useProjectUsers()
  const [isGranting, setGranting] = useState(false)
  const isOrphan = users !== undefined && !hasOwner(users)
  const isAppointing = !isOwner && isAdmin && isOrphan
  const button = (
    <button type="button" className="button main" onClick={() => setGranting(true)}>
      {isAppointing ? 'Appoint owner' : 'Add user'}
    </button>
  )
  return (
    <Screen title="Users" of={useProjectName()} actions={isOwner || isAppointing ? button : undefined}>
      <Loaded of={{ data: users, error }} what="users">
        {(all) => (
          <>
            {isOrphan && (
              <p className="notice">
                This project has no owner, so no one can manage its access.{' '}
                {isAdmin ? 'Appoint one.' : 'Ask an Admin of the organization to appoint one.'}
              </p>
            )}
            <Appointments project={project} />
            {!isOwner && !isAppointing && <p className="soft">Only a Project Owner can manage access.</p>}
            <UsersTable users={all} team={team} mayGrant={isOwner} />
          </>
        )}
      </Loaded>
      {isGranting && users && (
        <GrantDialog
          of={null}
          users={users}
          team={team}
          isAppointing={isAppointing}
          onClose={() => setGranting(false)}
        />
      )}
    </Screen>
  )
}

/** Users with access to the project, and the team that owns it. */
function useProjectUsers() {
  const { tenant, project } = useScope()
  const params = { tenant, project }
  const grants = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/grants', { params }))
  const members = useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
  const owning = useOwningTeam()
  const team = owning.id ?? ''
  const inTeam = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/teams/{team}/members', { params: { tenant, team } }),
    enabled: team !== '',
  })
  const isThere = grants.data && members.data && inTeam.data
  return {
    error: grants.error ?? members.error ?? owning.error ?? inTeam.error,
    team: { id: team, name: owning.name ?? 'of the project' },
    users: isThere ? projectAccess({ grants: grants.data, members: members.data, team: inTeam.data }) : undefined,
  }
}

/** Users with access to the project, with actions for users who can manage it. */
function UsersTable({
  users,
  team,
  mayGrant,
}: {
  users: ProjectAccess[]
  team: { id: string; name: string }
  mayGrant: boolean
}) {
  const teamName = team.name
  const [chosen, setChosen] = useState<{ act: 'Change role' | 'Remove access'; user: ProjectAccess } | null>(null)
  const onClose = () => setChosen(null)
  const columns: Column<ProjectAccess>[] = [
    { head: 'User', cell: (user) => <UserName of={user} />, sortBy: ({ name }) => name, csv: ({ email }) => email },
    {
      head: 'Role',
      cell: ({ grant }) => grant ?? <span className="soft">None</span>,
      sortBy: ({ grant }) => grant,
      csv: ({ grant }) => grant,
    },
    {
      head: 'Captured content',
      cell: ({ readsContent }) => (readsContent ? <Badge tone="plain" text="Reads" /> : null),
    },
    { head: 'Granted by', cell: reasonsText, csv: reasonsText },
    { head: 'Can create keys', cell: (user) => <CanCreateKeys lack={lackForKeys(user, teamName)} /> },
    ...(mayGrant ? [{ head: 'Actions', cell: actionsOf }] : []),
  ]
  function reasonsText(user: ProjectAccess) {
    return reasonsFor(user, teamName).join(', ')
  }
  function actionsOf(user: ProjectAccess) {
    const acts = user.grant === null ? [] : (['Change role', 'Remove access'] as const)
    return <RowActions acts={acts} of={user.name} onChoose={(act) => setChosen({ act, user })} />
  }
  return (
    <>
      <DataList
        name="users"
        caption="Users"
        columns={columns}
        rows={users}
        keyOf={({ id }) => id}
        searchBy={({ name, email, grant }) => `${name} ${email} ${grant ?? ''}`}
      />
      {chosen?.act === 'Change role' && (
        <GrantDialog of={chosen.user} users={users} team={team} isAppointing={false} onClose={onClose} />
      )}
      {chosen?.act === 'Remove access' && (
        <WithdrawDialog of={chosen.user} users={users} teamName={teamName} onClose={onClose} />
      )}
    </>
  )
}

function CanCreateKeys({ lack }: { lack: string | null }) {
  if (lack === null) return <Badge tone="good" text="Yes" />
  return (
    <>
      <Badge tone="plain" text="No" /> <span className="soft small">needs {lack}</span>
    </>
  )
}

/** Confirms removing a grant, and shows the remaining access and the keys that stop working. */
function WithdrawDialog({
  of: user,
  users,
  teamName,
  onClose,
}: {
  of: ProjectAccess
  users: ProjectAccess[]
  teamName: string
  onClose: () => void
}) {
  const { tenant, project } = useScope()
  const projectName = useProjectName()
  const withdraw = useChange(
    () =>
      ask('DELETE', '/api/v2/tenants/{tenant}/projects/{project}/grants/{user}', {
        params: { tenant, project, user: user.id },
      }),
    `${user.name} no longer has a role on ${projectName}.`,
  )
  const left = reasonsFor({ ...user, grant: null }, teamName)
  return (
    <FormDialog
      title={`Remove access for ${user.name}?`}
      submit="Remove access"
      isDanger
      change={withdraw}
      onClose={onClose}
    >
      <p>
        {user.name} immediately loses the role {user.grant} on {projectName}, and with it access to the project's
        wallet, usage, calls and flows.
      </p>
      {user.organization !== null && !user.isSuspended && left.length > 0 && (
        <p className="soft">They can still see that the project exists, as {left.join(' and ')}.</p>
      )}
      <StoppedKeys user={user.id} name={user.name} projects={[project]} />
      {isLastOwner(user, users) && <NoOtherOwner />}
    </FormDialog>
  )
}

function NoOtherOwner() {
  return (
    <p className="notice">
      There is no other active Project Owner. No one can manage access until an Admin of the organization appoints or
      resumes one.
    </p>
  )
}

/** Adds a user to the project or changes their role, and lists the keys that stop working. */
function GrantDialog({
  of,
  users,
  team,
  isAppointing,
  onClose,
}: {
  /** null to select a new user. */
  of: ProjectAccess | null
  users: ProjectAccess[]
  /** That owns the project. */
  team: { id: string; name: string }
  /** Appoints an owner; other roles aren't offered. */
  isAppointing: boolean
  onClose: () => void
}) {
  const { tenant, project } = useScope()
  const members = useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } })).data ?? []
  const [chosen, setChosen] = useState(of?.id ?? '')
  const [role, setRole] = useState<ProjectRole>(isAppointing ? 'Project Owner' : (of?.grant ?? 'Project Consumer'))
  const [readsContent, setReadsContent] = useState(of?.readsContent ?? false)
  const changesContent = readsContent !== (of?.readsContent ?? false)
  const member = members.find(({ id }) => id === chosen)
  const name = of?.name ?? member?.name ?? 'they'
  const { isAdmin } = useMyRoles()
  const [joinsTeam, setJoinsTeam] = useState(of === null)
  const before = users.find(({ id }) => id === chosen) ?? { grant: null, team: null, organization: null }
  const changesGrant = role !== before.grant || changesContent
  const client = useQueryClient()
  const said = isAppointing ? `is appointed as ${role}` : changesGrant ? `is now ${role}` : `is now in ${team.name}`
  const grant = useChange(async () => {
    if (changesGrant)
      await ask('POST', '/api/v2/tenants/{tenant}/projects/{project}/grants', {
        params: { tenant, project },
        body: { user: chosen, role, ...(changesContent && { readsContent }) },
      })
    if (!(mayJoin && joinsTeam)) return
    const body = { user: chosen, role: 'Team Member' } as const
    await ask('POST', '/api/v2/tenants/{tenant}/teams/{team}/members', {
      params: { tenant, team: team.id },
      body,
    }).catch(async (error: unknown) => {
      await readAgain(client) // the role is in force
      throw error
    })
  }, `${name} ${said}.`)
  const after = {
    ...before,
    grant: role,
    organization: member?.role ?? before.organization,
    isSuspended: (member?.suspendedAt ?? null) !== null,
  }
  const mayJoin = isAdmin && !isAppointing && role !== 'Project Viewer' && chosen !== '' && before.team === null
  const joined = mayJoin && joinsTeam ? { ...after, team: 'Team Member' as const } : after
  const lack = role === 'Project Viewer' ? null : lackForKeys(joined, team.name)
  const free = members.filter(({ id }) => id === chosen || !users.some((each) => each.id === id && each.grant !== null))
  return (
    <FormDialog
      title={of?.grant ? `Change role of ${of.name}` : isAppointing ? 'Appoint owner' : 'Add user'}
      submit={of?.grant ? 'Change role' : isAppointing ? 'Appoint owner' : 'Add user'}
      isReady={chosen !== '' && (changesGrant || (mayJoin && joinsTeam))}
      change={grant}
      onClose={onClose}
    >
      {of === null && (
        <UserField label="User" users={isAppointing ? members : free} value={chosen} onChange={setChosen} />
      )}
      <RoleField
        words={projectRoleLabels}
        {...(isAppointing && { roles: ['Project Owner'] as const })}
        value={role}
        onChange={setRole}
      />
      {!isAppointing && (
        <label className="choice">
          <input type="checkbox" checked={readsContent} onChange={({ target }) => setReadsContent(target.checked)} />
          Captured content: read the prompts and answers of all calls
        </label>
      )}
      {isAppointing && (
        <p className="soft">
          If the project had an owner before, the appointment takes effect after a delay. Former owners and Admins can
          object until then.
        </p>
      )}
      {chosen !== '' && lack !== null && (
        <p className="notice">
          To create keys, {name} also needs {lack}. An Admin of the organization can grant it.
        </p>
      )}
      {mayJoin && (
        <label className="choice">
          <input type="checkbox" checked={joinsTeam} onChange={({ target }) => setJoinsTeam(target.checked)} />
          Also add to the team {team.name}, which members need to create keys
        </label>
      )}
      {of !== null && role !== 'Project Owner' && isLastOwner(of, users) && <NoOtherOwner />}
      {issuesKeys(before) && !issuesKeys(after) && <StoppedKeys user={chosen} name={name} projects={[project]} />}
    </FormDialog>
  )
}
