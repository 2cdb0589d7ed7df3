import { valueNames } from './draft-parts.ts'
import type { ProductFieldsProps } from './product-fields-props.ts'
import { modalities } from './typed-product.ts'
import { ProductField } from './product-field.tsx'

/** Modalities of a model and the parameters its callers can set. */
export function CapabilityFields({ draft, faultOf, onChange }: ProductFieldsProps) {
  return (
    <>
      {(['input', 'output'] as const).map((side) => (
        <fieldset key={side}>
          <legend>{side === 'input' ? 'Input modalities' : 'Output modalities'}</legend>
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
      {(draft.kind === 'chat' || draft.kind === 'embedding') && (
        <ProductField
          label="Parameters"
          isOptional
          hint="Parameters callers can send, separated by commas."
          value={draft.supportedParameters}
          fault={faultOf('supportedParameters')}
          onChange={(supportedParameters) => onChange({ supportedParameters })}
        />
      )}
      {valueNames(draft.kind).map((name) => (
        <ProductField
          key={name}
          label={`Allowed values for ${name}`}
          isOptional
          hint="Separated by commas. Leave empty if callers can't set it."
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
        Moderated by the provider
      </label>
    </>
  )
}
