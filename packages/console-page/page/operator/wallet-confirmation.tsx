import { useEffect, useRef } from 'react'
import type { ProjectScope } from '../api/use-project.ts'
import { Facts } from '../components/facts.tsx'
import { Money } from '../components/money.tsx'
import type { WalletDraft } from './wallet-draft.ts'

/** Balance before and after the change. Takes the focus, because the focused field is gone. */
export function WalletConfirmation({
  draft: { id, reason },
  micro,
  availableMicro,
  scope: { project },
}: {
  draft: WalletDraft
  micro: number
  availableMicro: number
  scope: ProjectScope
}) {
  const element = useRef<HTMLElement>(null)
  useEffect(() => element.current?.focus(), [])
  return (
    <section ref={element} className="stack" tabIndex={-1} aria-label="Review">
      <Facts
        of={[
          ['Available now', <Money micro={availableMicro} />],
          [micro < 0 ? 'Debit' : 'Credit', <Money micro={micro} />],
          ['Available after', <Money micro={availableMicro + micro} />],
          ['Project', <code className="small">{project}</code>],
          ['ID', <code className="small">{id}</code>],
          ['Reason', reason === '' ? null : reason],
        ]}
      />
      <p className="soft small">
        Entries can't be deleted. Correct a mistake with another entry. Calls charged in the meantime change the
        available balance.
      </p>
    </section>
  )
}
