import type { NoticeRecord } from '@gateway/api/console/notices'
import { Badge } from '../parts/badge.tsx'
import { Moment } from '../parts/moment.tsx'
import { deliveryWords, failureText } from './notice-words.tsx'

/** How the newest notice that was on its way to a webhook got there. */
export function LastDelivery({ webhook, notices }: { webhook: string; notices: NoticeRecord[] }) {
  const delivery = notices.flatMap(({ deliveries }) => deliveries).find((each) => each.webhook === webhook)
  if (!delivery) return <span className="soft">nothing was posted yet</span>
  const { state, nextTryAt, endedAt } = delivery
  const failure = failureText(delivery)
  const isFailing = state === 'Pending' && failure !== null
  return (
    <>
      {isFailing ? <Badge tone="warn" text="Failing" /> : <Badge {...deliveryWords[state]} />}{' '}
      {endedAt && <Moment iso={endedAt} to="second" />}
      {failure !== null && (
        <div className="soft small">
          {failure}
          {nextTryAt && (
            <>
              ; tried again <Moment iso={nextTryAt} to="second" />
            </>
          )}
        </div>
      )}
    </>
  )
}
