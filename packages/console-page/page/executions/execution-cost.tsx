import type { ExecutionSummary } from '@gateway/api/execution'
import { Money } from '../parts/money.tsx'
import { isInProgress } from './execution-words.ts'

/** What its calls were charged; of one in progress until now. */
export function ExecutionCost({ of }: { of: ExecutionSummary }) {
  return (
    <>
      <Money micro={of.chargedMicro} />
      {isInProgress(of) && <span className="soft"> so far</span>}
    </>
  )
}
