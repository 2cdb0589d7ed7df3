import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { TenantWebhookRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { readingAll, useChange } from '../api/queries.ts'
import { useMemberNames } from '../api/session.ts'
import type { Column } from '../components/data-table.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { Moment } from '../components/values.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { ListScreen, useOrganization, useProjects } from './list-screen.tsx'

/** Webhooks of all projects of the organization. */
export function OrganizationWebhooksScreen() {
  const { tenant, name } = useOrganization()
  const webhooks = useQuery(readingAll('/api/v2/tenants/{tenant}/webhooks', { params: { tenant } }))
  const projects = useProjects().data ?? []
  const nameOf = useMemberNames()
  const [deleted, setDeleted] = useState<TenantWebhookRecord | null>(null)
  const columns: Column<TenantWebhookRecord>[] = [
    { head: 'Host', cell: ({ host }) => <code>{host}</code> },
    { head: 'Project', cell: ({ project }) => projects.find(({ id }) => id === project)?.name ?? project },
    { head: 'Created by', cell: ({ createdBy }) => nameOf(createdBy) },
    { head: 'Created', cell: ({ createdAt }) => <Moment iso={createdAt} to="day" /> },
    {
      head: 'Actions',
      cell: (webhook) => (
        <RowActions acts={['Delete']} of={`webhook to ${webhook.host}`} onChoose={() => setDeleted(webhook)} />
      ),
    },
  ]
  return (
    <ListScreen
      title="Webhooks"
      of={name}
      list={webhooks}
      columns={columns}
      keyOf={({ id }) => id}
      name="webhooks"
      searchBy={({ host }) => host}
      empty={{ title: 'No webhooks yet', text: 'Project Owners add webhooks under Alerts of their project.' }}
    >
      <p className="soft">Where projects send their alerts. Only Project Owners see the whole address.</p>
      {deleted && <DeleteDialog webhook={deleted} onClose={() => setDeleted(null)} />}
    </ListScreen>
  )
}

function DeleteDialog({ webhook: { id, host }, onClose }: { webhook: TenantWebhookRecord; onClose: () => void }) {
  const { tenant } = useOrganization()
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/webhooks/{webhook}', { params: { tenant, webhook: id } }),
    `Webhook to ${host} deleted.`,
  )
  return (
    <FormDialog title={`Delete webhook to ${host}?`} submit="Delete webhook" isDanger change={remove} onClose={onClose}>
      <p>The project sends no more alerts to {host}. Alerts that still wait for delivery are dropped.</p>
    </FormDialog>
  )
}
