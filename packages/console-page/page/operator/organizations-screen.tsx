import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { TenantRecord } from '@gateway/api/console/users'
import { readingAll, useChange } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { CopyButton } from '../components/copying.tsx'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { Moment } from '../components/values.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import { ask } from '../api/ask.ts'
import { CreateNamedDialog, FormDialog } from '../components/dialog.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { TextField } from '../components/fields.tsx'
import { onThisHost } from '../sign-in/link-secret.ts'

/** Every organization of the platform. */
export function OrganizationsScreen() {
  const { platformOperator } = useMe()
  const organizations = useQuery({ ...readingAll('/api/v2/tenants', { params: {} }), enabled: platformOperator })
  const [isCreating, setCreating] = useState(false)
  const [leaving, setLeaving] = useState<TenantRecord | null>(null)
  const [isResetting, setResetting] = useState(false)
  const create = (
    <button type="button" className="button main" onClick={() => setCreating(true)}>
      Create organization
    </button>
  )
  const actions = (
    <>
      <button type="button" className="button" onClick={() => setResetting(true)}>
        Create reset link
      </button>
      {create}
    </>
  )
  return (
    <OperatorScreen title="Organizations" actions={actions}>
      <Loaded of={organizations} what="organizations">
        {(rows) => (
          <DataList
            name="organizations"
            caption="Organizations"
            columns={columnsOf(setLeaving)}
            rows={rows}
            keyOf={({ id }) => id}
            searchBy={({ id, name }) => `${name} ${id}`}
            empty={
              <EmptyState title="No organizations yet" action={create}>
                Users, projects and keys belong to an organization. Its creator becomes its first Admin.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {isResetting && <ResetLinkDialog onClose={() => setResetting(false)} />}
      {isCreating && <CreateOrganizationDialog onClose={() => setCreating(false)} />}
      {leaving && <DeleteOrganizationDialog of={leaving} onClose={() => setLeaving(null)} />}
    </OperatorScreen>
  )
}

function columnsOf(onDelete: (tenant: TenantRecord) => void): Column<TenantRecord>[] {
  return [
    {
      head: 'Organization',
      cell: ({ id, name }) => (
        <Link to="/operator/wallets" search={{ q: id }} title="Open its wallets">
          {name}
        </Link>
      ),
      sortBy: ({ name }) => name,
      csv: ({ name }) => name,
    },
    {
      head: 'ID',
      csv: ({ id }) => id,
      cell: ({ id, name }) => (
        <>
          <code className="small">{id}</code> <CopyButton text={id} label={`Copy ID of ${name}`} isSmall />
        </>
      ),
    },
    {
      head: 'Created',
      cell: ({ createdAt }) => <Moment iso={createdAt} to="day" />,
      sortBy: ({ createdAt }) => createdAt,
      csv: ({ createdAt }) => createdAt,
    },
    {
      head: 'Actions',
      cell: (tenant) => <RowActions acts={['Delete']} of={tenant.name} onChoose={() => onDelete(tenant)} />,
    },
  ]
}

function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  return (
    <CreateNamedDialog
      title="Create organization"
      hint="You become its first Admin and can add others."
      create={(body, idempotencyKey) => ask('POST', '/api/v2/tenants', { params: {}, body, idempotencyKey })}
      announcement={(name) => `Organization ${name} created. You are its first Admin.`}
      paths={['/api/v2/tenants', '/api/v2/me']}
      onClose={onClose}
    />
  )
}

/** Confirms deleting an organization and lists the projects that block it, as far as the user can see them. */
function DeleteOrganizationDialog({ of: { id, name }, onClose }: { of: TenantRecord; onClose: () => void }) {
  const isMine = useMe().tenants.some((tenant) => tenant.id === id)
  const projects = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant: id } }),
    enabled: isMine,
  })
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}', { params: { tenant: id } }),
    `${name} deleted.`,
    ['/api/v2/tenants', '/api/v2/me'],
  )
  return (
    <FormDialog title={`Delete ${name}?`} submit="Delete organization" isDanger change={remove} onClose={onClose}>
      <p>
        This permanently deletes its teams and memberships and revokes its access tokens. The audit log is kept. An
        organization that has projects or keys can't be deleted.
      </p>
      {projects.data && projects.data.length > 0 && (
        <div className="notice">Projects: {projects.data.map((project) => project.name).join(', ')}.</div>
      )}
      {!isMine && <div className="notice">You aren't a member, so its projects and keys aren't shown.</div>}
      <RefusalBox error={projects.error} />
    </FormDialog>
  )
}

/** Makes a link with which a user resets a forgotten password. */
function ResetLinkDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [link, setLink] = useState<string | null>(null)
  const create = useChange(
    () => ask('POST', '/api/v2/password-resets', { params: {}, body: { email } }),
    'Reset link created.',
    [],
  )
  if (link !== null)
    return (
      <SecretDialog
        title={`Reset link for ${email}`}
        secret={link}
        warning="Copy this link now and send it to the user. It works once, for an hour, and is not shown again. It gives access to the account, so make sure that it reaches the right person."
        copy="Copy link"
        onClose={onClose}
      />
    )
  return (
    <FormDialog
      title="Create reset link"
      submit="Create link"
      change={create}
      onDone={(made) => setLink(onThisHost(made.link))}
      onClose={onClose}
    >
      <p>A reset ends all sessions and personal tokens of the user, and what the tokens made.</p>
      <TextField label="Email" type="email" required maxLength={254} value={email} onChange={setEmail} />
    </FormDialog>
  )
}
