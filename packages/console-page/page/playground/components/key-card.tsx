import { useState } from 'react'
import { Field } from '../../components/field.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { microOf } from '../../pure/usd.ts'
import type { UsedKey } from '../data/use-playground-key.ts'

/** Creates a short-lived key with a small limit for this tab, or takes a pasted one. */
export function KeyCard({ of: { make, paste, resetIdempotencyKey } }: { of: UsedKey }) {
  const [limit, setLimit] = useState('1')
  const [pasted, setPasted] = useState('')
  const micro = microOf(limit)
  return (
    <section className="card stack" aria-label="Playground key">
      <div>
        <h2>API key for this tab</h2>
        <p className="soft">
          Playground calls are charged to the project. Create a temporary key with a spending limit: it expires after a
          day or when you sign out, and its secret stays in this tab.
        </p>
      </div>
      <form
        className="playground-line"
        onSubmit={(event) => {
          event.preventDefault()
          if (micro) make.mutate(micro)
        }}
      >
        <Field
          label="Spending limit (USD)"
          fault={micro ? null : 'Enter an amount above 0, such as 1 or 0.25, with up to six decimal places.'}
        >
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              autoComplete="off"
              value={limit}
              onChange={({ target }) => {
                setLimit(target.value)
                resetIdempotencyKey()
              }}
            />
          )}
        </Field>
        <button type="submit" className="button main" disabled={make.isPending || !micro}>
          {make.isPending ? 'Creating…' : 'Create key'}
        </button>
      </form>
      <RefusalBox error={make.error} />
      <details>
        <summary>Use an existing key</summary>
        <form
          className="playground-line"
          onSubmit={(event) => {
            event.preventDefault()
            if (pasted.trim() !== '') paste(pasted.trim())
          }}
        >
          <Field label="API key" hint="Stays in this tab until you remove it or sign out.">
            {(ids) => (
              <input
                {...ids}
                type="password"
                autoComplete="off"
                value={pasted}
                onChange={({ target }) => setPasted(target.value)}
              />
            )}
          </Field>
          <button type="submit" className="button" disabled={pasted.trim() === ''}>
            Use key
          </button>
        </form>
      </details>
    </section>
  )
}
