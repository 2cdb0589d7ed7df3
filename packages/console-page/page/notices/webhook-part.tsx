import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { NoticeRecord, WebhookRecord } from '@gateway/api/console/notices'
import { readingAll } from '../api/reading.ts'
import { useMemberNames } from '../api/use-names.ts'
import { useScope } from '../api/use-project.ts'
import { Badge } from '../components/badge.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { CreateWebhookDialog } from './create-webhook-dialog.tsx'
import { DeleteWebhookDialog } from './delete-webhook-dialog.tsx'
import { LastDelivery } from './last-delivery.tsx'
import { WEBHOOKS } from './notice-paths.ts'

/** Webhooks of a project with their last delivery, for Project Owners. */
export function WebhookPart({ notices }: { notices: NoticeRecord[] }) {
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<WebhookRecord | null>(null)
  const nameOf = useMemberNames()
  const scope = useScope()
  const { data, error } = useQuery(readingAll(WEBHOOKS, { params: scope }))
  const columns: Column<WebhookRecord>[] = [
    {
      head: 'Endpoint',
      cell: ({ id, url, failingSince }) => (
        <>
          <Link to="/projects/$tenant/$project/notices/webhooks/$webhook" params={{ ...scope, webhook: id }}>
            <code>{url}</code>
          </Link>{' '}
          {failingSince !== null && <Badge tone="bad" text="Deliveries given up" />}
        </>
      ),
    },
    { head: 'Last delivery', cell: ({ id }) => <LastDelivery webhook={id} notices={notices} /> },
    {
      head: 'Added',
      cell: ({ createdAt, createdBy }) => (
        <>
          <Moment iso={createdAt} /> <span className="soft">by {nameOf(createdBy)}</span>
        </>
      ),
    },
    {
      head: 'Actions',
      cell: (webhook) => (
        <button
          type="button"
          className="button small danger"
          aria-label={`Delete ${webhook.url}`}
          onClick={() => setDeleted(webhook)}
        >
          Delete
        </button>
      ),
    },
  ]
  return (
    <section className="card stack" aria-label="Webhooks">
      <div className="head">
        <h2>Webhooks</h2>
        <button type="button" className="button small" onClick={() => setCreating(true)}>
          Add webhook
        </button>
      </div>
      <RefusalBox error={error} />
      {data?.length === 0 && (
        <p className="soft">No webhooks yet. Every alert is signed and posted to each endpoint you add here.</p>
      )}
      {data && data.length > 0 && <DataTable caption="Webhooks" columns={columns} rows={data} keyOf={({ id }) => id} />}
      {isCreating && <CreateWebhookDialog onClose={() => setCreating(false)} />}
      {deleted && <DeleteWebhookDialog of={deleted} onClose={() => setDeleted(null)} />}
    </section>
  )
}
