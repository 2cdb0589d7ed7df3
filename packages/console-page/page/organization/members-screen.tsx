import { useState } from 'react'
import type { MemberRecord } from '@gateway/api/console/users'
import { Badge } from '../components/badge.tsx'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { UserName } from '../users/user-name.tsx'
import { RowButtons } from '../users/row-buttons.tsx'
import { actionColumn } from './action-column.ts'
import { InviteDialog } from './invite-dialog.tsx'
import { ListScreen } from './list-screen.tsx'
import { MemberRoleDialog } from './member-role-dialog.tsx'
import { OpenInvitations } from './open-invitations.tsx'
import { RemoveMemberDialog } from './remove-member-dialog.tsx'
import { SecondFactorCard } from './second-factor-card.tsx'
import { SuspendMemberDialog } from './suspend-member-dialog.tsx'
import { useMembers, useOrganization } from './use-organization.ts'

type Act = 'Edit' | 'Suspend' | 'Resume' | 'Remove'

/** Members of the organization. */
export function MembersScreen() {
  const { name, isAdmin } = useOrganization()
  const members = useMembers()
  const [isInviting, setInviting] = useState(false)
  const [chosen, setChosen] = useState<{ act: Act; member: MemberRecord } | null>(null)
  const onClose = () => setChosen(null)
  const columns: Column<MemberRecord>[] = [
    { head: 'User', cell: (member) => <UserName of={member} />, sortBy: ({ name }) => name },
    { head: 'Role', cell: ({ role }) => role, sortBy: ({ role }) => role },
    {
      head: 'State',
      cell: ({ suspendedAt }) =>
        suspendedAt === null ? <Badge tone="good" text="Active" /> : <Badge tone="bad" text="Suspended" />,
    },
    ...(isAdmin
      ? [{ head: 'Second factor', cell: ({ secondFactor }: MemberRecord) => (secondFactor ? 'On' : 'Off') }]
      : []),
    {
      head: 'Member since',
      cell: ({ createdAt }) => <Moment iso={createdAt} to="day" />,
      sortBy: ({ createdAt }) => createdAt,
    },
    ...actionColumn<MemberRecord>(isAdmin, (member) => (
      <RowButtons<Act>
        acts={['Edit', member.suspendedAt === null ? 'Suspend' : 'Resume', 'Remove']}
        of={member.name}
        onChoose={(act) => setChosen({ act, member })}
      />
    )),
  ]
  return (
    <ListScreen
      title="Members"
      of={name}
      actions={
        isAdmin ? (
          <button type="button" className="button main" onClick={() => setInviting(true)}>
            Invite user
          </button>
        ) : undefined
      }
      list={members}
      columns={columns}
      keyOf={({ id }) => id}
      empty={{ title: 'No members yet', text: 'An Admin can invite users.' }}
    >
      {!isAdmin && <p className="soft">Only an Admin of the organization can invite users and change roles.</p>}
      {isAdmin && <SecondFactorCard />}
      {isAdmin && <OpenInvitations />}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {chosen?.act === 'Edit' && <MemberRoleDialog of={chosen.member} onClose={onClose} />}
      {(chosen?.act === 'Suspend' || chosen?.act === 'Resume') && (
        <SuspendMemberDialog of={chosen.member} onClose={onClose} />
      )}
      {chosen?.act === 'Remove' && <RemoveMemberDialog of={chosen.member} onClose={onClose} />}
    </ListScreen>
  )
}
