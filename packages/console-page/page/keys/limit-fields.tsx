import { Field } from '../parts/field.tsx'
import type { KeyDraft, Reset } from './new-key.ts'
import { windowWords } from './key-words.ts'

/** How much a key may spend, in which time, and until when it lives. */
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
        <Field label="Spending limit, in USD" hint="Empty: only the wallet limits it." fault={fault ?? null}>
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              autoComplete="off"
              placeholder="none"
              value={limit}
              onChange={({ target }) => onChange({ limit: target.value })}
            />
          )}
        </Field>
        <Field label="For" hint="Windows begin at midnight UTC.">
          {(ids) => (
            <select {...ids} value={reset} onChange={({ target }) => onChange({ reset: target.value as Reset })}>
              {Object.entries(windowWords).map(([each, text]) => (
                <option key={each} value={each}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label="Expires after, in days" hint="From 1 to 365.">
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
