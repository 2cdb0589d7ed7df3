import { Money } from '../../components/money.tsx'
import { several } from '../../pure/usd.ts'
import { spent } from '../core/spent.ts'
import type { Conversation } from '../core/conversation.ts'

/** Charge of the conversation so far. */
export function SpentLine({ of }: { of: Conversation }) {
  const { micro, open } = spent(of)
  return (
    <p aria-label="Charged for this conversation" role="group">
      Conversation total:{' '}
      <strong>
        <Money micro={micro} />
      </strong>
      {open > 0 && <span className="soft"> ({several(open, 'charge')} pending)</span>}
    </p>
  )
}
