import type { ExecutionRecord } from '@gateway/api/execution'
import { Badge } from '../../components/badge.tsx'
import { Money } from '../../components/money.tsx'
import { PortValues } from './port-values.tsx'

/** Result and charge of an execution, or its error. */
export function RunOutcome({
  execution: { status, chargedMicro, output, error, rerunOf },
}: {
  execution: ExecutionRecord
}) {
  return (
    <section className="stack" aria-label="Result of the execution">
      <p className="chips">
        <Badge tone={status === 'Succeeded' ? 'good' : 'bad'} text={status} />
        <span>
          Charged <Money micro={chargedMicro} />
        </span>
        {rerunOf !== null && (
          <span className="soft">Nodes that did not run again kept their results and cost nothing.</span>
        )}
      </p>
      {error && (
        <div className="refusal">
          <strong>{error.message}</strong>
          <p>{error.resolution}</p>
        </div>
      )}
      {output && <PortValues values={output} />}
    </section>
  )
}
