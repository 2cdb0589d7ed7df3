import { Field } from '../parts/field.tsx'
import type { ProductFieldsProps } from './product-fields-props.ts'
import type { Tokenizer } from './typed-product.ts'
import { ProductField } from './product-field.tsx'

const tokenizers: readonly Tokenizer[] = ['o200k_base', 'cl100k_base']

/** What a call may use at most, and how much is reserved for it. */
export function LimitFields({ draft, faultOf, onChange }: ProductFieldsProps) {
  return (
    <fieldset>
      <legend>Limits</legend>
      <div className="pair">
        <ProductField
          label="Context, in tokens"
          isNumber
          value={draft.contextLength}
          fault={faultOf('contextLength')}
          onChange={(contextLength) => onChange({ contextLength })}
        />
        <ProductField
          label="Tokens out at most"
          isNumber
          value={draft.maxOutputTokens}
          fault={faultOf('maxOutputTokens')}
          onChange={(maxOutputTokens) => onChange({ maxOutputTokens })}
        />
        <ProductField
          label="Factor"
          isNumber
          hint="How many times the bound of a prompt is reserved: 1 to 4."
          value={draft.factor}
          fault={faultOf('overheads.factor')}
          onChange={(factor) => onChange({ factor })}
        />
        <Field label="Tokenizer" hint="Counts prompts exactly.">
          {(ids) => (
            <select
              {...ids}
              value={draft.tokenizer}
              onChange={({ target }) => onChange({ tokenizer: tokenizers.find((each) => each === target.value) ?? '' })}
            >
              <option value="">none</option>
              {tokenizers.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
        </Field>
        {draft.kind !== 'chat' && (
          <ProductField
            label="Bytes out at most"
            isNumber
            value={draft.maxOutputBytes}
            fault={faultOf('maxOutputBytes')}
            onChange={(maxOutputBytes) => onChange({ maxOutputBytes })}
          />
        )}
        {draft.kind === 'chat' && (
          <ProductField
            label="Tokens of an image at most"
            isNumber
            isOptional
            hint="Empty: images are refused."
            value={draft.maxTokensPerImage}
            fault={faultOf('overheads.maxTokensPerImage')}
            onChange={(maxTokensPerImage) => onChange({ maxTokensPerImage })}
          />
        )}
      </div>
    </fieldset>
  )
}
