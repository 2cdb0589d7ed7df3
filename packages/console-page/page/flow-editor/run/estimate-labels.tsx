import type { SandboxEstimate } from '@gateway/api/estimate'
import { Money } from '../../components/money.tsx'
import { several } from '../../pure/usd.ts'

/** Max cost of an execution, and the charges of earlier ones. */
export function EstimateLabels({ of: { atMostMicro, last } }: { of: SandboxEstimate }) {
  return (
    <p className="small">
      <strong>
        At most <Money micro={atMostMicro} />
      </strong>
      , at current prices.
      {last.medianMicro !== null && last.p90Micro !== null && (
        <span className="soft">
          {' '}
          The last {several(last.executions, 'execution')} were charged <Money micro={last.medianMicro} /> (half of them
          or less), <Money micro={last.p90Micro} /> (nine in ten or less).
        </span>
      )}
    </p>
  )
}
