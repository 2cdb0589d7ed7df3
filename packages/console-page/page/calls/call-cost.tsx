import type { InvocationRecord } from '@gateway/api/console/money'
import { Money } from '../components/money.tsx'

/** Charge of a call; for an open call, its maximum cost. */
export function CallCost({ call }: { call: InvocationRecord }) {
  if (call.state !== 'Open') return <Money micro={call.chargedMicro} />
  return (
    <span className="soft">
      at most <Money micro={call.reservedMicro} />
    </span>
  )
}
