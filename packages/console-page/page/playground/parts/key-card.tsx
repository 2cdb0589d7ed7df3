import { useState } from 'react'
import { Field } from '../../parts/field.tsx'
import { RefusalBox } from '../../parts/refusal-box.tsx'
import { microOf } from '../../pure/usd.ts'
import type { UsedKey } from '../data/use-playground-key.ts'

/** How the playground comes by a key: it makes one that can spend little and not for long, or takes one that is pasted. */
export function KeyCard({ of: { make, paste, anew } }: { of: UsedKey }) {
  const [limit, setLimit] = useState('1')
  const [pasted, setPasted] = useState('')
  const micro = microOf(limit)
  return (
    <section className="card stack" aria-label="A key for the playground">
      <div>
        <h2>A key for this tab</h2>
        <p className="soft">
          Calls from here are charged to the project, like all calls. The playground makes a key of its own for them: it
          can spend what you allow it, ends after a day or when you sign out, and its secret stays in this tab.
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
          label="It may spend, in USD"
          fault={micro ? null : 'Write an amount above 0, such as 1 or 0.25, with at most six places.'}
        >
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              autoComplete="off"
              value={limit}
              onChange={({ target }) => {
                setLimit(target.value)
                anew()
              }}
            />
          )}
        </Field>
        <button type="submit" className="button main" disabled={make.isPending || !micro}>
          {make.isPending ? 'Creating…' : 'Create a key for this tab'}
        </button>
      </form>
      <RefusalBox error={make.error} />
      <details>
        <summary>Use a key that you have</summary>
        <form
          className="playground-line"
          onSubmit={(event) => {
            event.preventDefault()
            if (pasted.trim() !== '') paste(pasted.trim())
          }}
        >
          <Field label="Its secret" hint="It stays in this tab, until you take it out or sign out.">
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
            Use it
          </button>
        </form>
      </details>
    </section>
  )
}
