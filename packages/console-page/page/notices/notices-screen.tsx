import { useProjectName, useScope, useProjectRole, useKeyNames, useMemberNames } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { SHOWN_NOTICES, useNotices, THRESHOLDS, WEBHOOKS, useWebhookChange } from './notice-link.tsx'
import type { NoticeRecord, NoticeThresholds, WebhookRecord } from '@gateway/api/console/notices'
import { Badge, Facts, Moment } from '../components/values.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { NoticeText, deliveryLabels, failureText } from './notice-labels.tsx'
import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { reading, readingAll } from '../api/queries.ts'
import { Dialog, FormDialog } from '../components/dialog.tsx'
import { several, usd } from '../components/usd.ts'
import { ThresholdForm } from './threshold-form.tsx'
import { Link } from '@tanstack/react-router'
import { DeleteWebhookDialog, SigningSecretDialog } from './webhook-dialogs.tsx'
import { ask } from '../api/ask.ts'
import { TextField } from '../components/fields.tsx'

const EVERY_MS = 5_000

/** Alerts of a project, its alert rules and its webhooks. */
export function NoticesScreen() {
  const { notices, hasMore, error } = useNotices(EVERY_MS)
  const isOwner = useProjectRole() === 'Project Owner'
  return (
    <Screen title="Alerts" of={useProjectName()}>
      <Loaded of={{ data: notices, error }} what="alerts">
        {(rows) =>
          rows.length > 0 ? (
            <NoticeTable notices={rows} />
          ) : (
            <EmptyState title="No alerts yet">
              An alert is raised when a threshold below is crossed, a key is rotated, or a secret is found in public.
              Alerts are listed for 90 days.
            </EmptyState>
          )
        }
      </Loaded>
      {hasMore && <p className="soft small">Showing the latest {SHOWN_NOTICES}. The API lists all 90 days.</p>}
      <ThresholdPart />
      {isOwner && <WebhookPart notices={notices ?? []} />}
    </Screen>
  )
}

/** Alerts with their time, state and deliveries. */
function NoticeTable({ notices }: { notices: NoticeRecord[] }) {
  const nameOf = useKeyNames()
  const userOf = useMemberNames()
  const columns: Column<NoticeRecord>[] = [
    { head: 'Alert', cell: (notice) => <NoticeText notice={notice} nameOf={nameOf} userOf={userOf} /> },
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
    {
      head: 'State',
      cell: ({ open }) => (open ? <Badge tone="warn" text="Open" /> : <Badge tone="plain" text="Resolved" />),
    },
    { head: 'Webhooks', cell: ({ deliveries }) => <span className="soft">{postedText(deliveries)}</span> },
  ]
  return <DataTable caption="Alerts" columns={columns} rows={notices} keyOf={({ id }) => id} />
}

function postedText(deliveries: NoticeRecord['deliveries']): string {
  if (deliveries.length === 0) return 'None'
  const taken = deliveries.filter(({ state }) => state === 'Delivered').length
  return `${taken} of ${deliveries.length} delivered`
}

/** Alert rules of a project. A Project Owner can edit them. */
function ThresholdPart() {
  const { data, error } = useQuery(reading(THRESHOLDS, { params: useScope() }))
  const [isChanging, setChanging] = useState(false)
  const isOwner = useProjectRole() === 'Project Owner'
  return (
    <section className="card stack" aria-label="Alert rules">
      <div className="head">
        <h2>Alert rules</h2>
        {isOwner && data && (
          <button type="button" className="button small" onClick={() => setChanging(true)}>
            Edit alert rules
          </button>
        )}
      </div>
      <RefusalBox error={error} />
      {data && <Rules thresholds={data} />}
      {!isOwner && <p className="soft small">Only a Project Owner can edit alert rules.</p>}
      {isChanging && data && (
        <Dialog title="Edit alert rules" onClose={() => setChanging(false)}>
          <ThresholdForm saved={data} onClose={() => setChanging(false)} />
        </Dialog>
      )}
    </section>
  )
}

function Rules({ thresholds: { belowMicro, daysLeft, keyPercents } }: { thresholds: NoticeThresholds }) {
  const listed = (texts: string[]) => (texts.length === 0 ? 'Off' : texts.join(', '))
  return (
    <Facts
      of={[
        ['Balance below', listed(belowMicro.map(usd))],
        ['Key spend reaches', listed(keyPercents.map((percent) => `${percent}% of limit`))],
        ['Runway below', daysLeft === null ? 'Off' : several(daysLeft, 'day')],
      ]}
    />
  )
}

/** Webhooks of a project with their last delivery, for Project Owners. */
function WebhookPart({ notices }: { notices: NoticeRecord[] }) {
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

/** State of the most recent delivery to a webhook. */
function LastDelivery({ webhook, notices }: { webhook: string; notices: NoticeRecord[] }) {
  const delivery = notices.flatMap(({ deliveries }) => deliveries).find((each) => each.webhook === webhook)
  if (!delivery) return <span className="soft">No deliveries yet</span>
  const { state, nextTryAt, endedAt } = delivery
  const failure = failureText(delivery)
  const isFailing = state === 'Pending' && failure !== null
  return (
    <>
      {isFailing ? <Badge tone="warn" text="Failing" /> : <Badge {...deliveryLabels[state]} />}{' '}
      {endedAt && <Moment iso={endedAt} to="second" />}
      {failure !== null && (
        <div className="soft small">
          {failure}
          {nextTryAt && (
            <>
              . Next attempt <Moment iso={nextTryAt} to="second" />
            </>
          )}
        </div>
      )}
    </>
  )
}

/** Form for a new webhook, then its signing secret. */
function CreateWebhookDialog({ onClose }: { onClose: () => void }) {
  const params = useScope()
  const [url, setUrl] = useState('')
  const create = useWebhookChange(
    () => ask('POST', WEBHOOKS, { params, body: { url } }),
    "Webhook added. Copy the signing secret now: it won't be shown again.",
  )
  if (create.data) return <SigningSecretDialog made={create.data} onClose={onClose} />
  return (
    <FormDialog title="Add webhook" submit="Add webhook" change={create} onDone={() => {}} onClose={onClose}>
      <TextField
        label="Endpoint URL"
        hint="A public https:// URL. Every alert of the project is posted to it."
        type="url"
        required
        maxLength={2048}
        placeholder="https://hooks.example.com/notices"
        value={url}
        onChange={setUrl}
      />
    </FormDialog>
  )
}
