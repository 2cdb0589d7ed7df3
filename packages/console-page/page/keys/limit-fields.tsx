import { Field } from '../components/field.tsx'
import type { KeyDraft, Reset } from './new-key.ts'
import { windowLabels } from './key-labels.ts'

/** Spending limit, limit period and lifetime of a key. */
export function LimitFields({
  draft: { limit, reset, expiresInDays },
  fault,
  onChange,
}: {
  draft: KeyDraft
  fault: string | undefined
  onChange: (part: Partial<KeyDraft>) => void
}) {
  return (
    <>
      <div className="pair">
        <Field
          label="Spending limit (USD)"
          hint="Leave empty to limit spending by the wallet only."
          fault={fault ?? null}
        >
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              autoComplete="off"
              placeholder="No limit"
              value={limit}
              onChange={({ target }) => onChange({ limit: target.value })}
            />
          )}
        </Field>
        <Field label="Limit period" hint="Periods start at midnight UTC.">
          {(ids) => (
            <select {...ids} value={reset} onChange={({ target }) => onChange({ reset: target.value as Reset })}>
              {Object.entries(windowLabels).map(([each, text]) => (
                <option key={each} value={each}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label="Expires in (days)" hint="1 to 365.">
        {(ids) => (
          <input
            {...ids}
            type="number"
            required
            min={1}
            max={365}
            value={expiresInDays}
            onChange={({ target }) => onChange({ expiresInDays: target.value })}
          />
        )}
      </Field>
    </>
  )
}
