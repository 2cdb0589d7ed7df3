import { Field } from '../components/field.tsx'
import { TextField } from '../components/text-field.tsx'
import { microOfDraft, type WalletDraft } from './wallet-draft.ts'

const LONGEST_ID = 128
const LONGEST_REASON = 500

/** Amount, ID and reason of a funding or correction. */
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
                <option value="in">Credit</option>
                <option value="out">Debit</option>
              </select>
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
