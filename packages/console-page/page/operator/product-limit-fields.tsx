import { Field } from '../components/field.tsx'
import type { ProductFieldsProps } from './product-fields-props.ts'
import type { Tokenizer } from './typed-product.ts'
import { ProductField } from './product-field.tsx'

const tokenizers: readonly Tokenizer[] = ['o200k_base', 'cl100k_base']

/** Limits of a call, and how much is reserved for it. */
export function LimitFields({ draft, faultOf, onChange }: ProductFieldsProps) {
  return (
    <fieldset>
      <legend>Limits</legend>
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
            <select
              {...ids}
              value={draft.tokenizer}
              onChange={({ target }) => onChange({ tokenizer: tokenizers.find((each) => each === target.value) ?? '' })}
            >
              <option value="">None</option>
              {tokenizers.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
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
    </fieldset>
  )
}
