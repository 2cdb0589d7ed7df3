import { Field } from '../parts/field.tsx'
import { pricingOf, type PriceField } from './draft-parts.ts'
import type { ProductFieldsProps } from './product-fields-props.ts'
import { ProductField } from './product-field.tsx'
import { usdOfCall, usdOfMillion } from './usd-per-million.ts'

const FAULT = 'Write it as 5 or 0.25, with at most six places.'
const tokenPrices: { name: PriceField; label: string; isOptional: boolean }[] = [
  { name: 'prompt', label: 'USD per 1M tokens in', isOptional: false },
  { name: 'completion', label: 'USD per 1M tokens out', isOptional: false },
  { name: 'cachedPrompt', label: 'USD per 1M tokens in, from a cache', isOptional: true },
  { name: 'reasoning', label: 'USD per 1M tokens out, thought', isOptional: true },
]

/** Prices. A call keeps those that it was admitted at. */
export function PriceFields({ draft, isTried, faultOf, onChange }: ProductFieldsProps & { isTried: boolean }) {
  const { kind, unit } = draft
  const fault = (name: PriceField, isWrong: boolean) =>
    faultOf(`pricing.${name}`) ?? (isTried && isWrong ? FAULT : null)
  const pricing = pricingOf(draft)
  return (
    <fieldset>
      <legend>Price</legend>
      {kind === 'chat' && (
        <Field label="Priced by">
          {(ids) => (
            <select
              {...ids}
              value={unit}
              onChange={({ target }) => onChange({ unit: target.value === 'request' ? 'request' : 'tokens' })}
            >
              <option value="tokens">tokens</option>
              <option value="request">call</option>
            </select>
          )}
        </Field>
      )}
      <div className="pair">
        {unit === 'request' && (
          <ProductField
            label={kind === 'image' ? 'USD per image' : kind === 'audio' ? 'USD per sound' : 'USD per call'}
            value={draft.request}
            fault={fault('request', usdOfCall(draft.request) === null)}
            onChange={(request) => onChange({ request })}
          />
        )}
        {unit === 'tokens' &&
          tokenPrices.map(({ name, label, isOptional }) => (
            <ProductField
              key={name}
              label={label}
              value={draft[name]}
              isOptional={isOptional}
              {...(isOptional && { hint: 'Empty: like the rest.' })}
              fault={fault(name, !(isOptional && draft[name].trim() === '') && usdOfMillion(draft[name]) === null)}
              onChange={(text) => onChange({ [name]: text })}
            />
          ))}
      </div>
      <p className="soft small">
        {pricing?.unit === 'tokens' && `A token in costs $${pricing.prompt}, a token out $${pricing.completion}. `}
        Calls that are admitted from now on are charged at these prices; a call that was admitted before keeps its own.
      </p>
    </fieldset>
  )
}
