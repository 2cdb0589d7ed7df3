import { useState } from 'react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { WebhookRecord } from '@gateway/api/console/notices'
import { ask } from '../api/ask.ts'
import { reading } from '../api/reading.ts'
import { useMemberNames } from '../api/use-names.ts'
import { Screen } from '../frame/screen.tsx'
import { Badge } from '../components/badge.tsx'
import { Facts } from '../components/facts.tsx'
import { Moment } from '../components/moment.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { ShowMore } from '../components/show-more.tsx'
import { Waiting } from '../components/waiting.tsx'
import { DeleteWebhookDialog } from './delete-webhook-dialog.tsx'
import { DeliveryTable } from './delivery-table.tsx'
import { DELIVERIES, TEST_WEBHOOK, WEBHOOK } from './notice-paths.ts'
import { RotateWebhookDialog } from './rotate-webhook-dialog.tsx'
import { useWebhookChange } from './use-webhook-change.ts'
import './style/notices.css'

const EVERY_MS = 2_000
const PAGE = 50

/** A webhook with its state, its signing secret and its deliveries, for Project Owners. */
export function WebhookScreen() {
  const params = useParams({ from: '/projects/$tenant/$project/notices/webhooks/$webhook' })
  const [dialog, setDialog] = useState<'rotate' | 'delete' | null>(null)
  const navigate = useNavigate()
  const { data, error } = useQuery({ ...reading(WEBHOOK, { params }), refetchInterval: EVERY_MS })
  const test = useWebhookChange(() => ask('POST', TEST_WEBHOOK, { params }), 'Test alert sent.')
  const isGone = error !== null && data === undefined
  const actions = data && (
    <>
      <button type="button" className="button" disabled={test.isPending} onClick={() => test.mutate(undefined)}>
        Send test
      </button>
      <button type="button" className="button" onClick={() => setDialog('rotate')}>
        Rotate secret
      </button>
      <button type="button" className="button danger" onClick={() => setDialog('delete')}>
        Delete
      </button>
    </>
  )
  const close = () => setDialog(null)
  return (
    <Screen title="Webhook" of={data?.url ?? params.webhook} actions={actions}>
      <p>
        <Link to="/projects/$tenant/$project/notices" params={params}>
          All alerts and webhooks
        </Link>
      </p>
      <RefusalBox error={error} />
      <RefusalBox error={test.error} />
      {!data && !error && <Waiting what="the webhook" />}
      {data && <WebhookFacts webhook={data} />}
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
  const { url, failingSince, earlierSecretsUntil, createdAt, createdBy } = webhook
  const nameOf = useMemberNames()
  return (
    <section className="card stack" aria-label="Webhook">
      <Facts
        of={[
          ['Endpoint', <code key="url">{url}</code>],
          [
            'State',
            failingSince === null ? (
              <Badge key="state" tone="good" text="Working" />
            ) : (
              <span key="state">
                <Badge tone="bad" text="Failing" /> since <Moment iso={failingSince} />
              </span>
            ),
          ],
          [
            'Earlier secrets sign until',
            earlierSecretsUntil === null ? null : <Moment key="until" iso={earlierSecretsUntil} />,
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
          A delivery was given up or could not be signed. Fix the endpoint, then resend what failed. If the reason is a
          missing encryption key, rotate the secret.
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
    refetchInterval: EVERY_MS,
  })
  const deliveries = list.data?.pages.flatMap(({ data }) => data)
  return (
    <section className="card stack" aria-label="Deliveries">
      <h2>Deliveries</h2>
      <RefusalBox error={list.error} />
      {deliveries?.length === 0 && <p className="soft">No deliveries yet. Send a test to check the endpoint.</p>}
      {deliveries && deliveries.length > 0 && <DeliveryTable webhook={webhook} deliveries={deliveries} />}
      <ShowMore list={list} />
    </section>
  )
}
