import { useState } from 'react'
import type { ProviderHealth } from '@gateway/api/console/provider-health'
import { ComboField } from '../components/combo-field.tsx'
import { Dialog } from '../components/dialog.tsx'
import { draftOfKnown, knownModels, pricesAsOf } from './known-models.ts'
import type { ProductDraft } from './product-draft.ts'

const options = [...knownModels.values()].map(({ name, publisher }) => ({ value: name, detail: publisher }))

/** Fills the form for a known model, and asks before it replaces what was typed. */
export function KnownModelPicker({
  known = [],
  isTyped,
  onFill,
}: {
  known: readonly ProviderHealth[] | undefined
  /** Whether the form has values that were typed. */
  isTyped: boolean
  onFill: (draft: ProductDraft) => void
}) {
  const [sought, setSought] = useState('')
  const [asked, setAsked] = useState<string | null>(null)
  const [filled, setFilled] = useState(false)
  const fill = (name: string) => {
    const found = knownModels.get(name)
    if (!found) return
    onFill(draftOfKnown(found, known))
    setFilled(true)
  }
  return (
    <div className="card known-model">
      <ComboField
        label="Start from a known model"
        placeholder="Search models"
        hint="Fills in the limits, the parameters and the provider's list price. Optional."
        value={sought}
        options={options}
        onChange={setSought}
        onChoose={(name) => (isTyped ? setAsked(name) : fill(name))}
      />
      {filled && (
        <p className="notice small" role="status">
          Check these figures with the provider: they are its list prices and limits as of {pricesAsOf}.
        </p>
      )}
      {asked !== null && (
        <Dialog title="Replace what you typed?" onClose={() => setAsked(null)}>
          <p>All fields get the values of {asked}.</p>
          <div className="buttons">
            <button
              type="button"
              className="button main"
              onClick={() => {
                fill(asked)
                setAsked(null)
              }}
            >
              Replace
            </button>
            <button type="button" className="button" onClick={() => setAsked(null)}>
              Keep
            </button>
          </div>
        </Dialog>
      )}
    </div>
  )
}
