import { useProjectName, useScope, useProjectRole, useKeyNames, useMemberNames } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { SHOWN_NOTICES, useNotices, TEST_WEBHOOK, THRESHOLDS, WEBHOOKS, useWebhookChange } from './notice-link.tsx'
import type { NoticeRecord, NoticeThresholds, WebhookRecord } from '@gateway/api/console/notices'
import { Badge, Facts, Moment } from '../components/values.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { NoticeText, deliveryLabels, destinationKinds, destinationText, failureText } from './notice-labels.tsx'
import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { reading, readingAll } from '../api/queries.ts'
import { several, usd } from '../components/usd.ts'
import { ThresholdDialog } from './threshold-dialog.tsx'
import { Link, useNavigate } from '@tanstack/react-router'
import { AddDestinationDialog, DeleteWebhookDialog } from './webhook-dialogs.tsx'
import { ask } from '../api/ask.ts'

const EVERY_MS = 5_000

/** Alerts of a project, its alert rules and its destinations. */
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
      {isOwner && <DestinationPart notices={notices ?? []} />}
    </Screen>
  )
}

/** Alerts with their time, state and deliveries. */
function NoticeTable({ notices }: { notices: NoticeRecord[] }) {
  const nameOf = useKeyNames(notices.flatMap(({ key }) => key ?? []))
  const userOf = useMemberNames()
  const columns: Column<NoticeRecord>[] = [
    { head: 'Alert', cell: (notice) => <NoticeText notice={notice} nameOf={nameOf} userOf={userOf} /> },
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
    {
      head: 'State',
      cell: ({ open }) => (open ? <Badge tone="warn" text="Open" /> : <Badge tone="plain" text="Resolved" />),
    },
    { head: 'Sent', cell: ({ deliveries }) => <span className="soft">{postedText(deliveries)}</span> },
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
      {isChanging && data && <ThresholdDialog saved={data} onClose={() => setChanging(false)} />}
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

/** Destinations of a project's alerts with their last delivery, for Project Owners. */
function DestinationPart({ notices }: { notices: NoticeRecord[] }) {
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<WebhookRecord | null>(null)
  const nameOf = useMemberNames()
  const scope = useScope()
  const { data, error } = useQuery(readingAll(WEBHOOKS, { params: scope }))
  const columns: Column<WebhookRecord>[] = [
    {
      head: 'Destination',
      cell: (webhook) => (
        <>
          {destinationKinds[webhook.kind]}:{' '}
          <Link to="/projects/$tenant/$project/notices/webhooks/$webhook" params={{ ...scope, webhook: webhook.id }}>
            <code>{destinationText(webhook, nameOf)}</code>
          </Link>{' '}
          {webhook.failingSince !== null && <Badge tone="bad" text="Deliveries given up" />}
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
        <div className="buttons">
          <TestButton of={webhook} />
          <button
            type="button"
            className="button small danger"
            aria-label={`Delete ${destinationText(webhook, nameOf)}`}
            onClick={() => setDeleted(webhook)}
          >
            Delete
          </button>
        </div>
      ),
    },
  ]
  return (
    <section className="card stack" aria-label="Destinations">
      <div className="head">
        <h2>Destinations</h2>
        <button type="button" className="button small" onClick={() => setCreating(true)}>
          Add destination
        </button>
      </div>
      <RefusalBox error={error} />
      {data?.length === 0 && (
        <p className="soft">No destinations yet. Have every alert sent to a webhook, to Slack or by email.</p>
      )}
      {data && data.length > 0 && (
        <DataTable caption="Destinations" columns={columns} rows={data} keyOf={({ id }) => id} />
      )}
      {isCreating && <AddDestinationDialog onClose={() => setCreating(false)} />}
      {deleted && <DeleteWebhookDialog of={deleted} onClose={() => setDeleted(null)} />}
    </section>
  )
}

/** Sends a test alert to a destination, and opens the page that shows whether it arrives. */
function TestButton({ of }: { of: WebhookRecord }) {
  const params = { ...useScope(), webhook: of.id }
  const nameOf = useMemberNames()
  const navigate = useNavigate()
  const test = useWebhookChange(() => ask('POST', TEST_WEBHOOK, { params }), 'Test alert sent.')
  const onSuccess = () => void navigate({ to: '/projects/$tenant/$project/notices/webhooks/$webhook', params })
  return (
    <>
      <button
        type="button"
        className="button small"
        disabled={test.isPending}
        aria-label={`Send test to ${destinationText(of, nameOf)}`}
        onClick={() => test.mutate(undefined, { onSuccess })}
      >
        Send test
      </button>
      <RefusalBox error={test.error} />
    </>
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
