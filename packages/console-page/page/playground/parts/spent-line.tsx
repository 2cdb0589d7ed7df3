import { Money } from '../../parts/money.tsx'
import { several } from '../../pure/usd.ts'
import { spent } from '../core/spent.ts'
import type { Conversation } from '../core/conversation.ts'

/** What the conversation was charged so far. */
export function SpentLine({ of }: { of: Conversation }) {
  const { micro, open } = spent(of)
  return (
    <p aria-label="Charged for this conversation" role="group">
      This conversation was charged{' '}
      <strong>
        <Money micro={micro} />
      </strong>
      {open > 0 && <span className="soft">, and {several(open, 'answer')} not final yet</span>}.
    </p>
  )
}
