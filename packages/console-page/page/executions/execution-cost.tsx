import type { ExecutionSummary } from '@gateway/api/execution'
import { Money } from '../components/money.tsx'
import { isInProgress } from './execution-labels.ts'

/** What its calls were charged; of one in progress until now. */
export function ExecutionCost({ of }: { of: ExecutionSummary }) {
  return (
    <>
      <Money micro={of.chargedMicro} />
      {isInProgress(of) && <span className="soft"> so far</span>}
    </>
  )
}
