import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { TenantRecord } from '@gateway/api/console/users'
import { readingAll } from '../api/reading.ts'
import { useMe } from '../api/session.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Moment } from '../components/moment.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { CreateOrganizationDialog } from './create-organization-dialog.tsx'
import { DeleteOrganizationDialog } from './delete-organization-dialog.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import { ResetLinkDialog } from './reset-link-dialog.tsx'

/** Every organization of the platform. */
export function OrganizationsScreen() {
  const { platformOperator } = useMe()
  const { data, error } = useQuery({ ...readingAll('/api/v2/tenants', { params: {} }), enabled: platformOperator })
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
      <RefusalBox error={error} />
      {!data && !error && <Waiting what="organizations" />}
      {data?.length === 0 && (
        <EmptyState title="No organizations yet" action={create}>
          Users, projects and keys belong to an organization. Its creator becomes its first Admin.
        </EmptyState>
      )}
      {data && data.length > 0 && (
        <DataTable caption="Organizations" columns={columnsOf(setLeaving)} rows={data} keyOf={({ id }) => id} />
      )}
      {isResetting && <ResetLinkDialog onClose={() => setResetting(false)} />}
      {isCreating && <CreateOrganizationDialog onClose={() => setCreating(false)} />}
      {leaving && <DeleteOrganizationDialog of={leaving} onClose={() => setLeaving(null)} />}
    </OperatorScreen>
  )
}

function columnsOf(onDelete: (tenant: TenantRecord) => void): Column<TenantRecord>[] {
  return [
    { head: 'Organization', cell: ({ name }) => name, sortBy: ({ name }) => name },
    {
      head: 'ID',
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
    },
    {
      head: 'Actions',
      cell: (tenant) => (
        <div className="buttons">
          <Link
            className="button small"
            to="/operator/money"
            search={{ tenant: tenant.id }}
            aria-label={`Money of ${tenant.name}`}
          >
            Money
          </Link>
          <button
            type="button"
            className="button small danger"
            aria-label={`Delete ${tenant.name}`}
            onClick={() => onDelete(tenant)}
          >
            Delete
          </button>
        </div>
      ),
    },
  ]
}
