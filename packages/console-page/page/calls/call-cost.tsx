import type { InvocationRecord } from '@gateway/api/console/money'
import { Money } from '../components/money.tsx'

/** What was charged; of an open call the most that it can cost. */
export function CallCost({ call }: { call: InvocationRecord }) {
  if (call.state !== 'Open') return <Money micro={call.chargedMicro} />
  return (
    <span className="soft">
      at most <Money micro={call.reservedMicro} />
    </span>
  )
}
