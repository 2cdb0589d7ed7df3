import { useState } from 'react'
import type { MemberRecord } from '@gateway/api/console/users'
import { Badge, Moment } from '../components/values.tsx'
import type { Column } from '../components/data-table.tsx'
import { UserName, RoleField, tenantRoleLabels } from '../users/user-fields.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { actionColumn, ListScreen, useMembers, useOrganization } from './list-screen.tsx'
import { OpenInvitations, InvitationLinkDialog, type ShownInvitation } from './open-invitations.tsx'
import { RemoveMemberDialog } from './remove-member-dialog.tsx'
import { ask } from '../api/ask.ts'
import { useChange, readingAll, useOnce } from '../api/queries.ts'
import { FormDialog } from '../components/dialog.tsx'
import { StoppedKeys } from '../users/stopped-keys.tsx'
import { useScope } from '../api/session.ts'
import type { TenantRole } from '@gateway/api/console/fields'
import { TextField } from '../components/fields.tsx'
import { useQuery } from '@tanstack/react-query'

type Act = 'Edit' | 'Suspend' | 'Resume' | 'Remove'

/** Members of the organization. */
export function MembersScreen() {
  const { name, isAdmin } = useOrganization()
  const members = useMembers()
  const [isInviting, setInviting] = useState(false)
  const [chosen, setChosen] = useState<{ act: Act; member: MemberRecord } | null>(null)
  const onClose = () => setChosen(null)
  const columns: Column<MemberRecord>[] = [
    { head: 'User', cell: (member) => <UserName of={member} />, sortBy: ({ name }) => name, csv: ({ email }) => email },
    { head: 'Role', cell: ({ role }) => role, sortBy: ({ role }) => role, csv: ({ role }) => role },
    {
      head: 'State',
      cell: ({ suspendedAt }) =>
        suspendedAt === null ? <Badge tone="good" text="Active" /> : <Badge tone="bad" text="Suspended" />,
      csv: ({ suspendedAt }) => (suspendedAt === null ? 'Active' : 'Suspended'),
    },
    ...(isAdmin
      ? [{ head: 'Second factor', cell: ({ secondFactor }: MemberRecord) => (secondFactor ? 'On' : 'Off') }]
      : []),
    {
      head: 'Member since',
      cell: ({ createdAt }) => <Moment iso={createdAt} to="day" />,
      sortBy: ({ createdAt }) => createdAt,
      csv: ({ createdAt }) => createdAt,
    },
    ...actionColumn<MemberRecord>(isAdmin, (member) => (
      <RowActions<Act>
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
      name="members"
      searchBy={(member) => `${member.name} ${member.email} ${member.role}`}
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

/** Confirms suspending a member, or resuming a suspended one. */
function SuspendMemberDialog({ of, onClose }: { of: MemberRecord; onClose: () => void }) {
  const { id, name, suspendedAt } = of
  const { tenant, name: organization } = useOrganization()
  const isSuspended = suspendedAt !== null
  const path = `/api/v2/tenants/{tenant}/members/{user}/${isSuspended ? 'resume' : 'suspend'}` as const
  const change = useChange(
    () => ask('POST', path, { params: { tenant, user: id } }),
    isSuspended ? `${name} resumed.` : `${name} suspended.`,
  )
  return isSuspended ? (
    <FormDialog title={`Resume ${name}?`} submit="Resume member" change={change} onClose={onClose}>
      <p>
        {name} gets access to {organization} again, with the same roles. Their API keys work again.
      </p>
    </FormDialog>
  ) : (
    <FormDialog title={`Suspend ${name}?`} submit="Suspend member" isDanger change={change} onClose={onClose}>
      <p>
        {name} immediately loses access to {organization}, including with personal tokens, until you resume them. Their
        roles and grants don't change.
      </p>
      <StoppedKeys user={id} name={name} />
    </FormDialog>
  )
}

function MemberRoleDialog({ of: { id, name, role: before }, onClose }: { of: MemberRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const [role, setRole] = useState(before)
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/members/{user}', { params: { tenant, user: id }, body: { role } }),
    `${name} is now ${role}.`,
  )
  return (
    <FormDialog
      title={`Change role of ${name}`}
      submit="Change role"
      isReady={role !== before}
      change={change}
      onClose={onClose}
    >
      <RoleField words={tenantRoleLabels} value={role} onChange={setRole} />
      {before === 'Admin' && role === 'Member' && (
        <p className="notice">
          {name} can no longer manage users, teams and projects. Their keys and grants don't change.
        </p>
      )}
    </FormDialog>
  )
}

/** Invites an email. Shows the link if no mail carries it. */
function InviteDialog({ onClose }: { onClose: () => void }) {
  const { tenant } = useScope()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<TenantRole>('Member')
  const [made, setMade] = useState<ShownInvitation | null>(null)
  const once = useOnce()
  const body = { email, role }
  const invite = useChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/invitations', { params: { tenant }, body, idempotencyKey: once(body) }),
    'Invitation created.',
    ['/api/v2/tenants/{tenant}/invitations'],
  )
  if (made) return <InvitationLinkDialog of={made} onClose={onClose} />
  return (
    <FormDialog title="Invite user" submit="Invite" change={invite} onDone={setMade} onClose={onClose}>
      <TextField
        label="Email"
        type="email"
        hint="They become a member when they accept."
        required
        maxLength={254}
        value={email}
        onChange={setEmail}
      />
      <RoleField words={tenantRoleLabels} value={role} onChange={setRole} />
    </FormDialog>
  )
}

/** Whether the organization requires a second factor. For Admins. */
function SecondFactorCard() {
  const { tenant } = useOrganization()
  const { data } = useQuery(readingAll('/api/v2/tenants', { params: {} }))
  /** What the open dialog changes: the answer may arrive here before the dialog has closed. */
  const [changing, setChanging] = useState<{ isRequired: boolean } | null>(null)
  const found = data?.find(({ id }) => id === tenant)
  if (!found) return null
  const { requireSecondFactor: isRequired } = found
  return (
    <section className="card stack" aria-label="Two-factor authentication">
      <div className="head">
        <h2>Two-factor authentication</h2>
        <button type="button" className="button" onClick={() => setChanging({ isRequired })}>
          {isRequired ? 'Stop requiring' : 'Require'}
        </button>
      </div>
      <p className="soft">
        {isRequired
          ? 'Members without a second factor are asked to set one up, and can do nothing else here.'
          : 'Members can sign in without a second factor.'}
      </p>
      {changing && <ChangeDialog {...changing} onClose={() => setChanging(null)} />}
    </section>
  )
}

function ChangeDialog({ isRequired, onClose }: { isRequired: boolean; onClose: () => void }) {
  const { tenant, name } = useOrganization()
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}', { params: { tenant }, body: { requireSecondFactor: !isRequired } }),
    isRequired ? 'Second factor no longer required.' : 'Second factor required.',
  )
  return (
    <FormDialog
      title={isRequired ? 'Stop requiring a second factor?' : 'Require a second factor?'}
      submit={isRequired ? 'Stop requiring' : 'Require second factor'}
      change={change}
      onClose={onClose}
    >
      <p>
        {isRequired
          ? `Members can use ${name} without a second factor again.`
          : `Members who signed in without a second factor, and their personal tokens, immediately lose access to ${name} until they set one up. API keys and service tokens don't change.`}
      </p>
    </FormDialog>
  )
}
