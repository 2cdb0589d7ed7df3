import { useRef, useState, type FormEvent } from 'react'
import { ask } from '../api/ask.ts'
import { faultAt } from '../api/failed.ts'
import { useChange } from '../api/use-change.ts'
import type { ProjectScope } from '../api/use-project.ts'
import { Dialog } from '../components/dialog.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { WalletChangeFields } from './wallet-change-fields.tsx'
import { WalletConfirmation } from './wallet-confirmation.tsx'
import { isRefusedAtField, microOfDraft, type WalletDraft } from './wallet-draft.ts'
import { CORRECT, FUND, FUNDINGS, JOURNAL, WALLET } from './wallet-paths.ts'

/**
 * Funding or correction in two steps: form, then review with the balance before and after. Submitting twice books it
 * once. A field error leads back to the form.
 */
export function WalletChangeDialog({
  draft,
  scope,
  availableMicro,
  onChange,
  onBooked,
  onClose,
}: {
  draft: WalletDraft
  scope: ProjectScope
  availableMicro: number
  onChange: (draft: WalletDraft) => void
  onBooked: () => void
  onClose: () => void
}) {
  const [step, setStep] = useState<'type' | 'tried' | 'confirm'>('type')
  const micro = microOfDraft(draft)
  const isFunding = draft.kind === 'funding'
  const action = isFunding ? 'Add funds' : 'Adjust balance'
  const done = isFunding ? 'Funds added.' : 'Balance adjusted.'
  const book = useChange(() => send(scope, draft), done, [WALLET, FUNDINGS, JOURNAL])
  const isClickedAgain = useRef(false)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    // The second click of a double click was meant for the first step.
    if (isClickedAgain.current || book.isPending) return
    if (step !== 'confirm') return setStep(micro === null ? 'tried' : 'confirm')
    book.mutate(undefined, {
      onSuccess: onBooked,
      onError: (error) => {
        if (isRefusedAtField(error)) setStep('type')
      },
    })
  }
  return (
    <Dialog title={action} onClose={onClose}>
      <form className="stack" onSubmit={onSubmit}>
        {step === 'confirm' && micro !== null ? (
          <WalletConfirmation draft={draft} micro={micro} availableMicro={availableMicro} scope={scope} />
        ) : (
          <WalletChangeFields
            draft={draft}
            isTried={step === 'tried'}
            faultOf={(param) => faultAt(book.error, param)}
            onChange={(part) => onChange({ ...draft, ...part })}
          />
        )}
        <RefusalBox error={book.error} />
        <div className="buttons">
          <button
            type="submit"
            className="button main"
            disabled={book.isPending}
            onClick={({ detail }) => (isClickedAgain.current = detail > 1)}
          >
            {step !== 'confirm' ? 'Review' : book.isPending ? 'Saving…' : action}
          </button>
          {step === 'confirm' && (
            <button type="button" className="button" disabled={book.isPending} onClick={() => setStep('type')}>
              Edit
            </button>
          )}
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

async function send(params: ProjectScope, draft: WalletDraft) {
  const { kind, id, reason } = draft
  const micro = microOfDraft(draft) ?? 0 // unreachable: an invalid amount can't be confirmed
  if (kind === 'funding') return ask('POST', FUND, { params, body: { fundingId: id, micro } })
  return ask('POST', CORRECT, { params, body: { correctionId: id, micro, reason } })
}
