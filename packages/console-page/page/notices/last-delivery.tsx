import type { NoticeRecord } from '@gateway/api/console/notices'
import { Badge } from '../components/badge.tsx'
import { Moment } from '../components/moment.tsx'
import { deliveryLabels, failureText } from './notice-labels.tsx'

/** State of the most recent delivery to a webhook. */
export function LastDelivery({ webhook, notices }: { webhook: string; notices: NoticeRecord[] }) {
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
