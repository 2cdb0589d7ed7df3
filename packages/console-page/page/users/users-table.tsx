import { useState } from 'react'
import { Badge } from '../components/badge.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { GrantDialog } from './grant-dialog.tsx'
import { UserName } from './user-name.tsx'
import { hasOwner, lackForKeys, reasonsFor, type ProjectAccess } from './project-access.ts'
import { RowButtons } from './row-buttons.tsx'
import { WithdrawDialog } from './withdraw-dialog.tsx'

/** Users with access to the project, with actions for users who can manage it. */
export function UsersTable({
  users,
  teamName,
  mayGrant,
}: {
  users: ProjectAccess[]
  teamName: string
  mayGrant: boolean
}) {
  const [chosen, setChosen] = useState<{ act: 'Change role' | 'Remove access'; user: ProjectAccess } | null>(null)
  const onClose = () => setChosen(null)
  const columns: Column<ProjectAccess>[] = [
    { head: 'User', cell: (user) => <UserName of={user} />, sortBy: ({ name }) => name },
    { head: 'Role', cell: ({ grant }) => grant ?? <span className="soft">None</span>, sortBy: ({ grant }) => grant },
    { head: 'Granted by', cell: (user) => reasonsFor(user, teamName).join(', ') },
    { head: 'Can create keys', cell: (user) => <CanCreateKeys lack={lackForKeys(user, teamName)} /> },
    ...(mayGrant ? [{ head: 'Actions', cell: actionsOf }] : []),
  ]
  function actionsOf(user: ProjectAccess) {
    const acts = user.grant === null ? [] : (['Change role', 'Remove access'] as const)
    return <RowButtons acts={acts} of={`for ${user.name}`} onChoose={(act) => setChosen({ act, user })} />
  }
  const others = users.filter(({ id }) => id !== chosen?.user.id)
  return (
    <>
      <DataTable caption="Users" columns={columns} rows={users} keyOf={({ id }) => id} />
      {chosen?.act === 'Change role' && (
        <GrantDialog of={chosen.user} users={users} teamName={teamName} isAppointing={false} onClose={onClose} />
      )}
      {chosen?.act === 'Remove access' && (
        <WithdrawDialog of={chosen.user} isLastOwner={!hasOwner(others)} teamName={teamName} onClose={onClose} />
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
