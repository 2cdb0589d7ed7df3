import { useState } from 'react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { WebhookRecord, WebhookDelivery } from '@gateway/api/console/notices'
import { ask } from '../api/ask.ts'
import { reading } from '../api/queries.ts'
import { useMemberNames, useScope } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { Badge, Facts, Moment } from '../components/values.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { ShowMore, Loaded } from '../components/list-states.tsx'
import { DeleteWebhookDialog, SigningSecretDialog } from './webhook-dialogs.tsx'
import { DELIVERIES, TEST_WEBHOOK, WEBHOOK, ROTATE_WEBHOOK, RESEND, useWebhookChange } from './notice-link.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { GraceField } from '../components/select.tsx'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { deliveryLabels, destinationKinds, destinationText, failureText, kindLabels } from './notice-labels.tsx'

const EVERY_MS = 2_000
/** Deliveries change only while one is pending. Slow polling shows those of later alerts. */
const NONE_PENDING_MS = 30_000
const PAGE = 50

/** A destination with its state, its signing secret and its deliveries, for Project Owners. */
export function WebhookScreen() {
  const params = useParams({ from: '/projects/$tenant/$project/notices/webhooks/$webhook' })
  const [dialog, setDialog] = useState<'rotate' | 'delete' | null>(null)
  const navigate = useNavigate()
  const nameOf = useMemberNames()
  const { data, error } = useQuery({ ...reading(WEBHOOK, { params }), refetchInterval: EVERY_MS })
  const test = useWebhookChange(() => ask('POST', TEST_WEBHOOK, { params }), 'Test alert sent.')
  const isGone = error !== null && data === undefined
  const actions = data && (
    <>
      <button type="button" className="button" disabled={test.isPending} onClick={() => test.mutate(undefined)}>
        Send test
      </button>
      {data.kind === 'standard' && (
        <button type="button" className="button" onClick={() => setDialog('rotate')}>
          Rotate secret
        </button>
      )}
      <button type="button" className="button danger" onClick={() => setDialog('delete')}>
        Delete
      </button>
    </>
  )
  const close = () => setDialog(null)
  return (
    <Screen
      title={data ? destinationKinds[data.kind] : 'Destination'}
      of={data ? destinationText(data, nameOf) : params.webhook}
      actions={actions}
    >
      <p>
        <Link to="/projects/$tenant/$project/notices" params={params}>
          All alerts and destinations
        </Link>
      </p>
      <RefusalBox error={test.error} />
      <Loaded of={{ data, error }} what="the destination">
        {(webhook) => <WebhookFacts webhook={webhook} />}
      </Loaded>
      {!isGone && <Deliveries webhook={params.webhook} />}
      {dialog === 'rotate' && data && <RotateWebhookDialog of={data} onClose={close} />}
      {dialog === 'delete' && data && (
        <DeleteWebhookDialog
          of={data}
          onDone={() => void navigate({ to: '/projects/$tenant/$project/notices', params })}
          onClose={close}
        />
      )}
    </Screen>
  )
}

function WebhookFacts({ webhook }: { webhook: WebhookRecord }) {
  const { kind, url, failingSince, earlierSecretsUntil, createdAt, createdBy } = webhook
  const nameOf = useMemberNames()
  return (
    <section className="card stack" aria-label="Destination">
      <Facts
        of={[
          url === null ? ['Recipient', destinationText(webhook, nameOf)] : ['Endpoint', <code key="url">{url}</code>],
          [
            'State',
            failingSince === null ? (
              <Badge key="state" tone="good" text="Working" />
            ) : (
              <span key="state">
                <Badge tone="bad" text="Failing" /> since <Moment iso={failingSince} isExact />
              </span>
            ),
          ],
          [
            'Earlier secrets sign until',
            earlierSecretsUntil === null ? null : <Moment key="until" iso={earlierSecretsUntil} isExact />,
          ],
          [
            'Added',
            <span key="added">
              <Moment iso={createdAt} /> <span className="soft">by {nameOf(createdBy)}</span>
            </span>,
          ],
        ]}
      />
      {failingSince !== null && (
        <p className="notice">
          {kind === 'email'
            ? 'An email was given up. If its recipient lost access to the project, delete the destination. Otherwise resend what failed once the mail server works.'
            : 'A delivery was given up or could not be signed. Fix the endpoint, then resend what failed. If the reason is a missing encryption key, rotate the secret.'}
        </p>
      )}
    </section>
  )
}

function Deliveries({ webhook }: { webhook: string }) {
  const { tenant, project } = useParams({ from: '/projects/$tenant/$project/notices/webhooks/$webhook' })
  const params = { tenant, project, webhook }
  const list = useInfiniteQuery({
    queryKey: [DELIVERIES, params],
    queryFn: ({ pageParam, signal }) =>
      ask('GET', DELIVERIES, { params, query: { limit: PAGE, ...(pageParam && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.data.some(({ state }) => state === 'Pending')) ? EVERY_MS : NONE_PENDING_MS,
  })
  const deliveries = list.data?.pages.flatMap(({ data }) => data)
  return (
    <section className="card stack" aria-label="Deliveries">
      <h2>Deliveries</h2>
      <RefusalBox error={list.error} />
      {deliveries?.length === 0 && <p className="soft">No deliveries yet. Send a test to check the destination.</p>}
      {deliveries && deliveries.length > 0 && <DeliveryTable webhook={webhook} deliveries={deliveries} />}
      <ShowMore list={list} />
    </section>
  )
}

/** Replaces the signing secret of a webhook, then shows the new one. */
function RotateWebhookDialog({ of: { id, url }, onClose }: { of: WebhookRecord; onClose: () => void }) {
  const params = { ...useScope(), webhook: id }
  const [graceSeconds, setGraceSeconds] = useState(86_400)
  const rotate = useWebhookChange(
    () => ask('POST', ROTATE_WEBHOOK, { params, body: { graceSeconds } }),
    "Signing secret rotated. Copy the new one now: it won't be shown again.",
  )
  if (rotate.data) return <SigningSecretDialog made={rotate.data} onClose={onClose} />
  return (
    <FormDialog
      title="Rotate signing secret"
      submit="Rotate secret"
      change={rotate}
      onDone={() => {}}
      onClose={onClose}
    >
      <p>
        Alerts to <code>{url}</code> are signed with a new secret. Until the old one stops signing, each alert has both
        signatures, so no delivery is lost while you install the new secret.
      </p>
      <GraceField label="Old secret stops signing" seconds={graceSeconds} onChange={setGraceSeconds} />
    </FormDialog>
  )
}

/** Deliveries to a webhook, each with a button that sends it again. */
function DeliveryTable({ webhook, deliveries }: { webhook: string; deliveries: WebhookDelivery[] }) {
  const params = { ...useScope(), webhook }
  const resend = useWebhookChange(
    (notice: string) => ask('POST', RESEND, { params: { ...params, notice } }),
    'Delivery resent.',
  )
  const columns: Column<WebhookDelivery>[] = [
    { head: 'Alert', cell: ({ kind }) => kindLabels[kind], csv: ({ kind }) => kindLabels[kind] },
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" />, csv: ({ at }) => at },
    { head: 'State', cell: ({ state }) => <Badge {...deliveryLabels[state]} />, csv: ({ state }) => state },
    { head: 'Result', cell: (delivery) => <DeliveryResult of={delivery} />, csv: resultText },
    {
      head: 'Actions',
      cell: ({ notice, kind, at }) => (
        <button
          type="button"
          className="button small"
          disabled={resend.isPending}
          aria-label={`Resend ${kindLabels[kind]} of ${at}`}
          onClick={() => resend.mutate(notice)}
        >
          Resend
        </button>
      ),
    },
  ]
  return (
    <>
      <RefusalBox error={resend.error} />
      <DataList
        name="deliveries"
        caption="Deliveries"
        columns={columns}
        rows={deliveries}
        keyOf={({ notice }) => notice}
      />
    </>
  )
}

function resultText(delivery: WebhookDelivery): string {
  const { state, status } = delivery
  if (state === 'Delivered' && status === null) return 'Emailed'
  return failureText(delivery) ?? (status === null ? 'Not attempted yet' : `HTTP ${status}`)
}

function DeliveryResult({ of: delivery }: { of: WebhookDelivery }) {
  const { nextTryAt, endedAt } = delivery
  return (
    <>
      {resultText(delivery)}
      <div className="soft small">
        {endedAt !== null && <Moment iso={endedAt} to="second" />}
        {nextTryAt !== null && (
          <>
            Next attempt <Moment iso={nextTryAt} to="second" />
          </>
        )}
      </div>
    </>
  )
}
