import type { ExecutionSummary } from '@gateway/api/execution'
import { Money } from '../components/money.tsx'
import { isInProgress } from './execution-labels.ts'

/** Charges of the calls of an execution so far. */
export function ExecutionCost({ of }: { of: ExecutionSummary }) {
  return (
    <>
      <Money micro={of.chargedMicro} />
      {isInProgress(of) && <span className="soft"> so far</span>}
    </>
  )
}
