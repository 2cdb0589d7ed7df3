import { useEffect, useRef } from 'react'
import type { ProjectPlace } from '../api/use-project.ts'
import { Facts } from '../parts/facts.tsx'
import { Money } from '../parts/money.tsx'
import type { WalletDraft } from './wallet-draft.ts'

/** Before and after, as of this moment. It takes the focus: the fields that had it are gone. */
export function WalletConfirmation({
  draft: { id, reason },
  micro,
  availableMicro,
  place: { project },
}: {
  draft: WalletDraft
  micro: number
  availableMicro: number
  place: ProjectPlace
}) {
  const element = useRef<HTMLElement>(null)
  useEffect(() => element.current?.focus(), [])
  return (
    <section ref={element} className="stack" tabIndex={-1} aria-label="What is booked">
      <Facts
        of={[
          ['Available now', <Money micro={availableMicro} />],
          [micro < 0 ? 'Taken out' : 'Put in', <Money micro={micro} />],
          ['Available after', <Money micro={availableMicro + micro} />],
          ['Project', <code className="small">{project}</code>],
          ['Under the id', <code className="small">{id}</code>],
          ['Reason', reason === '' ? null : reason],
        ]}
      />
      <p className="soft small">
        It can't be deleted: what was wrong is put right by another entry. Calls that are charged meanwhile change what
        is available.
      </p>
    </section>
  )
}
