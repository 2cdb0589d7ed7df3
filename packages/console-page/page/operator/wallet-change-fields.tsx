import { Field } from '../parts/field.tsx'
import { TextField } from '../parts/text-field.tsx'
import { microOfDraft, type WalletDraft } from './wallet-draft.ts'

const LONGEST_ID = 128
const LONGEST_REASON = 500

/** How much, under which id, and why. */
export function WalletChangeFields({
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
              <select
                {...ids}
                value={isOut ? 'out' : 'in'}
                onChange={({ target }) => onChange({ isOut: target.value === 'out' })}
              >
                <option value="in">Put in</option>
                <option value="out">Take out</option>
              </select>
            )}
          </Field>
        )}
        <TextField
          label="Amount, in USD"
          inputMode="decimal"
          required
          value={amount}
          fault={isWrong ? 'Write it as 5 or 0.25, more than 0 and with at most six places.' : faultOf('micro')}
          onChange={(text) => onChange({ amount: text })}
        />
      </div>
      {kind === 'correction' && (
        <TextField
          label="Reason"
          hint="For the audit, and for everybody who sees the fundings."
          required
          maxLength={LONGEST_REASON}
          value={reason}
          fault={faultOf('reason')}
          onChange={(text) => onChange({ reason: text })}
        />
      )}
      <TextField
        label={kind === 'funding' ? 'Funding id' : 'Correction id'}
        hint="Such as the number of a payment. Once only: under the same id nothing is booked twice."
        required
        maxLength={LONGEST_ID}
        value={id}
        fault={faultOf(kind === 'funding' ? 'fundingId' : 'correctionId')}
        onChange={(text) => onChange({ id: text })}
      />
    </>
  )
}
