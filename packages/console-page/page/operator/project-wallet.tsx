import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { reading } from '../api/reading.ts'
import type { ProjectScope } from '../api/use-project.ts'
import { Facts } from '../components/facts.tsx'
import { Money } from '../components/money.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { FundingList } from './funding-list.tsx'
import { JournalPart } from './journal-part.tsx'
import { WalletChangeDialog } from './wallet-change-dialog.tsx'
import { emptyWalletDraft } from './wallet-draft.ts'
import { WALLET } from './wallet-paths.ts'

const emptyDrafts = () => ({ funding: emptyWalletDraft('funding'), correction: emptyWalletDraft('correction') })

/**
 * Exact wallet of a project with its actions and history. A draft keeps its ID until it is booked, so resubmitting
 * after a lost response doesn't book it twice.
 */
export function ProjectWallet({ scope }: { scope: ProjectScope }) {
  const [drafts, setDrafts] = useState(emptyDrafts)
  const [kind, setKind] = useState<'funding' | 'correction' | null>(null)
  const { data: wallet, error } = useQuery(reading(WALLET, { params: scope }))
  if (!wallet) return error ? <RefusalBox error={error} /> : <Waiting what="the wallet" />
  return (
    <>
      <section className="card stack" aria-label="Wallet">
        <div className="head">
          <h2>Wallet</h2>
          <div className="buttons">
            <button type="button" className="button main" onClick={() => setKind('funding')}>
              Add funds
            </button>
            <button type="button" className="button" onClick={() => setKind('correction')}>
              Adjust balance
            </button>
          </div>
        </div>
        <RefusalBox error={error} />
        <Facts
          className="figures"
          of={[
            ['Available', <Money micro={wallet.availableMicro} />],
            ['Reserved for calls in progress', <Money micro={wallet.reservedMicro} />],
            ['Charged to date', <Money micro={wallet.settledMicro} />],
            ['Funded, net of corrections', <Money micro={wallet.fundedMicro} />],
          ]}
        />
      </section>
      <FundingList scope={scope} />
      <JournalPart scope={scope} />
      {kind !== null && (
        <WalletChangeDialog
          draft={drafts[kind]}
          scope={scope}
          availableMicro={wallet.availableMicro}
          onChange={(draft) => setDrafts({ ...drafts, [kind]: draft })}
          onBooked={() => {
            setDrafts({ ...drafts, [kind]: emptyWalletDraft(kind) })
            setKind(null)
          }}
          onClose={() => setKind(null)}
        />
      )}
    </>
  )
}
