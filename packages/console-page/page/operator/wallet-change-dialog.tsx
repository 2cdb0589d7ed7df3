import { useRef, useState, type FormEvent } from 'react'
import { ask } from '../api/ask.ts'
import { faultAt } from '../api/failed.ts'
import { useChange } from '../api/use-change.ts'
import type { ProjectPlace } from '../api/use-project.ts'
import { Dialog } from '../parts/dialog.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { WalletChangeFields } from './wallet-change-fields.tsx'
import { WalletConfirmation } from './wallet-confirmation.tsx'
import { isRefusedAtField, microOfDraft, type WalletDraft } from './wallet-draft.ts'
import { CORRECT, FUND, FUNDINGS, JOURNAL, WALLET } from './wallet-paths.ts'

/**
 * A funding or a correction: typed, then looked at with before and after, then sent; however often it is sent, it is booked once.
 * What is refused about a field leads back to the field.
 */
export function WalletChangeDialog({
  draft,
  place,
  availableMicro,
  onChange,
  onBooked,
  onClose,
}: {
  draft: WalletDraft
  place: ProjectPlace
  availableMicro: number
  onChange: (draft: WalletDraft) => void
  onBooked: () => void
  onClose: () => void
}) {
  const [step, setStep] = useState<'type' | 'tried' | 'confirm'>('type')
  const micro = microOfDraft(draft)
  const book = useChange(() => send(place, draft), 'It is booked.', [WALLET, FUNDINGS, JOURNAL])
  const isClickedAgain = useRef(false)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    // The second click of a double click is meant for what was there at the first.
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
    <Dialog title={draft.kind === 'funding' ? 'Fund the wallet' : 'Put the wallet right'} onClose={onClose}>
      <form className="stack" onSubmit={onSubmit}>
        {step === 'confirm' && micro !== null ? (
          <WalletConfirmation draft={draft} micro={micro} availableMicro={availableMicro} place={place} />
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
            {step !== 'confirm' ? 'Look at it' : book.isPending ? 'Booking…' : 'Book it'}
          </button>
          {step === 'confirm' && (
            <button type="button" className="button" disabled={book.isPending} onClick={() => setStep('type')}>
              Change it
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

async function send(params: ProjectPlace, draft: WalletDraft) {
  const { kind, id, reason } = draft
  const micro = microOfDraft(draft) ?? 0 // refused, and never sent: what is no amount is not confirmed
  if (kind === 'funding') return ask('POST', FUND, { params, body: { fundingId: id, micro } })
  return ask('POST', CORRECT, { params, body: { correctionId: id, micro, reason } })
}
