import { valueNames } from './draft-parts.ts'
import type { ProductFieldsProps } from './product-fields-props.ts'
import { modalities } from './typed-product.ts'
import { ProductField } from './product-field.tsx'

/** What a model takes, gives, and lets its callers set. */
export function CapabilityFields({ draft, faultOf, onChange }: ProductFieldsProps) {
  return (
    <>
      {(['input', 'output'] as const).map((side) => (
        <fieldset key={side}>
          <legend>{side === 'input' ? 'Takes' : 'Gives'}</legend>
          <div className="inline">
            {modalities.map((each) => (
              <label key={each} className="choice">
                <input
                  type="checkbox"
                  checked={draft[side].includes(each)}
                  onChange={({ target }) =>
                    onChange({
                      [side]: modalities.filter((one) => (one === each ? target.checked : draft[side].includes(one))),
                    })
                  }
                />
                {each}
              </label>
            ))}
          </div>
        </fieldset>
      ))}
      {draft.kind === 'chat' && (
        <ProductField
          label="Parameters"
          isOptional
          hint="That callers may send, with commas between them."
          value={draft.supportedParameters}
          fault={faultOf('supportedParameters')}
          onChange={(supportedParameters) => onChange({ supportedParameters })}
        />
      )}
      {valueNames(draft.kind).map((name) => (
        <ProductField
          key={name}
          label={`Values of ${name}`}
          isOptional
          hint="With commas between them. Empty: it can't be set."
          value={draft.values[name]}
          fault={faultOf(`parameterValues.${name}`)}
          onChange={(text) => onChange({ values: { ...draft.values, [name]: text } })}
        />
      ))}
      <label className="choice">
        <input
          type="checkbox"
          checked={draft.isModerated}
          onChange={({ target }) => onChange({ isModerated: target.checked })}
        />
        Its provider moderates what is sent
      </label>
    </>
  )
}
