import type { WebhookDelivery } from '@gateway/api/console/notices'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { Badge } from '../components/badge.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { deliveryLabels, failureText, kindLabels } from './notice-labels.tsx'
import { RESEND } from './notice-paths.ts'
import { useWebhookChange } from './use-webhook-change.ts'

/** Deliveries to a webhook, each with a button that sends it again. */
export function DeliveryTable({ webhook, deliveries }: { webhook: string; deliveries: WebhookDelivery[] }) {
  const params = { ...useScope(), webhook }
  const resend = useWebhookChange(
    (notice: string) => ask('POST', RESEND, { params: { ...params, notice } }),
    'Delivery resent.',
  )
  const columns: Column<WebhookDelivery>[] = [
    { head: 'Alert', cell: ({ kind }) => kindLabels[kind] },
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
    { head: 'State', cell: ({ state }) => <Badge {...deliveryLabels[state]} /> },
    { head: 'Result', cell: (delivery) => <DeliveryResult of={delivery} /> },
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
      <DataTable caption="Deliveries" columns={columns} rows={deliveries} keyOf={({ notice }) => notice} />
    </>
  )
}

function DeliveryResult({ of: delivery }: { of: WebhookDelivery }) {
  const { status, nextTryAt, endedAt } = delivery
  return (
    <>
      {failureText(delivery) ?? (status === null ? 'Not attempted yet' : `HTTP ${status}`)}
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
