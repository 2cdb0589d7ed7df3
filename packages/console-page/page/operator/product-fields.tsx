import { kinds } from '../catalogue/catalogue-view.ts'
import { kindLabels } from '../catalogue/product-labels.tsx'
import { Field } from '../components/fields.tsx'
import { Select } from '../components/select.tsx'
import { ProductField, type ProductFieldsProps } from './price-fields.tsx'
import { modalities, valueNames, withKind, type Tokenizer } from './product-draft.ts'

/** Identity of a product. Its ID and kind can't be changed later. */
export function IdentityFields({ draft, isNew, faultOf, onChange }: ProductFieldsProps) {
  const { name, ownedBy, description } = draft
  const setKind = (text: string) => onChange(withKind(draft, kinds.find((each) => each === text) ?? 'chat'))
  return (
    <>
      {isNew && (
        <div className="pair">
          <ProductField
            label="Model ID"
            hint="The ID callers use, for example acme/swift. Can't be changed later."
            value={draft.id}
            fault={faultOf('id')}
            onChange={(id) => onChange({ id })}
          />
          <Field label="Kind">
            {(ids) => (
              <Select
                {...ids}
                value={draft.kind}
                options={kinds.map((each) => [each, kindLabels[each]])}
                onChange={setKind}
              />
            )}
          </Field>
        </div>
      )}
      <div className="pair">
        <ProductField label="Name" value={name} fault={faultOf('name')} onChange={(text) => onChange({ name: text })} />
        <ProductField
          label="Publisher"
          hint="Shown to all users. Don't name a provider here."
          value={ownedBy}
          fault={faultOf('ownedBy')}
          onChange={(text) => onChange({ ownedBy: text })}
        />
      </div>
      <Field label="Description" fault={faultOf('description')}>
        {(ids) => (
          <textarea {...ids} value={description} onChange={({ target }) => onChange({ description: target.value })} />
        )}
      </Field>
    </>
  )
}

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

const tokenizers: readonly Tokenizer[] = ['o200k_base', 'cl100k_base']

/** Limits of a call, and how much is reserved for it. */
export function LimitFields({ draft, faultOf, onChange }: ProductFieldsProps) {
  return (
    <div className="pair">
      <ProductField
        label="Context window (tokens)"
        isNumber
        value={draft.contextLength}
        fault={faultOf('contextLength')}
        onChange={(contextLength) => onChange({ contextLength })}
      />
      {draft.kind !== 'embedding' && (
        <ProductField
          label="Max output tokens"
          isNumber
          value={draft.maxOutputTokens}
          fault={faultOf('maxOutputTokens')}
          onChange={(maxOutputTokens) => onChange({ maxOutputTokens })}
        />
      )}
      <ProductField
        label="Reservation factor"
        isNumber
        hint="Safety margin on the estimated prompt tokens when reserving, from 1 to 4."
        value={draft.factor}
        fault={faultOf('overheads.factor')}
        onChange={(factor) => onChange({ factor })}
      />
      <Field label="Tokenizer" hint="Counts prompt tokens exactly.">
        {(ids) => (
          <Select
            {...ids}
            value={draft.tokenizer}
            options={[['', 'None'] as const, ...tokenizers.map((each) => [each, each] as const)]}
            onChange={(tokenizer) => onChange({ tokenizer })}
          />
        )}
      </Field>
      {draft.kind !== 'chat' && draft.kind !== 'embedding' && (
        <ProductField
          label="Max output bytes"
          isNumber
          value={draft.maxOutputBytes}
          fault={faultOf('maxOutputBytes')}
          onChange={(maxOutputBytes) => onChange({ maxOutputBytes })}
        />
      )}
      {draft.kind === 'chat' && (
        <ProductField
          label="Max tokens per image"
          isNumber
          isOptional
          hint="Leave empty to refuse images."
          value={draft.maxTokensPerImage}
          fault={faultOf('overheads.maxTokensPerImage')}
          onChange={(maxTokensPerImage) => onChange({ maxTokensPerImage })}
        />
      )}
    </div>
  )
}
