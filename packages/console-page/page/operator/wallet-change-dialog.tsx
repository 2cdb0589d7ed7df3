import { useRef, useState, type FormEvent, useEffect } from 'react'
import { ask } from '../api/ask.ts'
import { faultAt } from '../api/failed.ts'
import { useChange } from '../api/queries.ts'
import type { ProjectScope } from '../api/session.ts'
import { Dialog, PendingGuard } from '../components/dialog.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import {
  isRefusedAtField,
  microOfDraft,
  type WalletDraft,
  CORRECT,
  FUND,
  FUNDINGS,
  JOURNAL,
  WALLET,
} from './wallet-draft.ts'
import { Facts, Money } from '../components/values.tsx'
import { Field, TextField, useFocusOnFault } from '../components/fields.tsx'
import { Select } from '../components/select.tsx'

const directions = [
  ['in', 'Credit'],
  ['out', 'Debit'],
] as const

/**
 * Funding or correction in two steps: form, then review with the balance before and after. Submitting twice books it
 * once. It stays open while it is booked: the next one needs another ID. A field error leads back to the form.
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
  const form = useRef<HTMLFormElement>(null)
  const [tries, setTries] = useState(0)
  useFocusOnFault(form, tries, book.error)
  const isClickedAgain = useRef(false)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    // The second click of a double click was meant for the first step.
    if (isClickedAgain.current || book.isPending) return
    setTries(tries + 1)
    if (step !== 'confirm') return setStep(micro === null ? 'tried' : 'confirm')
    book.mutate(undefined, {
      onSuccess: onBooked,
      onError: (error) => {
        if (isRefusedAtField(error)) setStep('type')
      },
    })
  }
  return (
    <Dialog title={action} stays={book.isPending} onClose={onClose}>
      {book.isPending && <PendingGuard />}
      <form ref={form} className="stack" onSubmit={onSubmit}>
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
          <button type="button" className="button" disabled={book.isPending} onClick={onClose}>
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

/** Balance before and after the change. Takes the focus, because the focused field is gone. */
function WalletConfirmation({
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

const LONGEST_ID = 128
const LONGEST_REASON = 500

/** Amount, ID and reason of a funding or correction. */
function WalletChangeFields({
  draft: { kind, id, amount, isOut, reason },
  isTried,
  faultOf,
  onChange,
}: {
  draft: WalletDraft
  isTried: boolean
  faultOf: (param: string) => string | null
  onChange: (part: Partial<WalletDraft>) => void
}) {
  const isWrong = isTried && microOfDraft({ amount, isOut }) === null
  return (
    <>
      <div className="pair">
        {kind === 'correction' && (
          <Field label="Direction">
            {(ids) => (
              <Select
                {...ids}
                value={isOut ? 'out' : 'in'}
                options={directions}
                onChange={(chosen) => onChange({ isOut: chosen === 'out' })}
              />
            )}
          </Field>
        )}
        <TextField
          label="Amount (USD)"
          inputMode="decimal"
          required
          value={amount}
          fault={
            isWrong ? 'Enter an amount above 0, such as 5 or 0.25, with up to six decimal places.' : faultOf('micro')
          }
          onChange={(text) => onChange({ amount: text })}
        />
      </div>
      {kind === 'correction' && (
        <TextField
          label="Reason"
          hint="Shown in the audit log and the funding list."
          required
          maxLength={LONGEST_REASON}
          value={reason}
          fault={faultOf('reason')}
          onChange={(text) => onChange({ reason: text })}
        />
      )}
      <TextField
        label={kind === 'funding' ? 'Funding ID' : 'Correction ID'}
        hint="For example an invoice number. Each ID is booked only once."
        required
        maxLength={LONGEST_ID}
        value={id}
        fault={faultOf(kind === 'funding' ? 'fundingId' : 'correctionId')}
        onChange={(text) => onChange({ id: text })}
      />
    </>
  )
}
