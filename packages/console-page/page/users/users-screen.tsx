import { useState } from 'react'
import { useProjectName, useScope } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { Appointments } from '../projects/appointments.tsx'
import { GrantDialog } from './grant-dialog.tsx'
import { UsersTable } from './users-table.tsx'
import { hasOwner } from './project-access.ts'
import { useProjectUsers } from './use-project-users.ts'
import { useMyRoles } from './use-my-roles.ts'

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
      <RefusalBox error={error} />
      {!users && !error && <Waiting what="users" />}
      {users && (
        <>
          {isOrphan && (
            <p className="notice">
              This project has no owner, so no one can manage its access.{' '}
              {isAdmin ? 'Appoint one.' : 'Ask an Admin of the organization to appoint one.'}
            </p>
          )}
          <Appointments project={project} />
          {!isOwner && !isAppointing && <p className="soft">Only a Project Owner can manage access.</p>}
          <UsersTable users={users} teamName={team.name} mayGrant={isOwner} />
        </>
      )}
      {isGranting && users && (
        <GrantDialog
          of={null}
          users={users}
          teamName={team.name}
          isAppointing={isAppointing}
          onClose={() => setGranting(false)}
        />
      )}
    </Screen>
  )
}
