import { Field, TextField } from '../components/fields.tsx'
import { pricingOf, type PriceField, usdOfCall, usdOfMillion, type ProductDraft } from './product-draft.ts'
import type { ComponentProps } from 'react'
import { Select } from '../components/select.tsx'

const FAULT = 'Enter an amount such as 5 or 0.25, with up to six decimal places.'
const tokenPrices: { name: PriceField; label: string; isOptional: boolean; hint?: string }[] = [
  { name: 'prompt', label: 'Input tokens ($/1M)', isOptional: false },
  { name: 'completion', label: 'Output tokens ($/1M)', isOptional: false },
  {
    name: 'cachedPrompt',
    label: 'Cached input tokens ($/1M)',
    isOptional: true,
    hint: 'Leave empty to use the input price.',
  },
  {
    name: 'cacheWrite',
    label: 'Cache write tokens ($/1M)',
    isOptional: true,
    hint: 'At least the input price. Leave empty to use the input price.',
  },
  {
    name: 'reasoning',
    label: 'Reasoning tokens ($/1M)',
    isOptional: true,
    hint: 'Leave empty to use the output price.',
  },
]

const billedUnits = [
  ['tokens', 'token'],
  ['request', 'call'],
] as const

/** Prices. A call keeps the price it was admitted at. */
export function PriceFields({ draft, isTried, faultOf, onChange }: ProductFieldsProps & { isTried: boolean }) {
  const { kind, unit } = draft
  const fault = (name: PriceField, isWrong: boolean) =>
    faultOf(`pricing.${name}`) ?? (isTried && isWrong ? FAULT : null)
  const pricing = pricingOf(draft)
  return (
    <fieldset>
      <legend>Price</legend>
      {(kind === 'chat' || kind === 'embedding') && (
        <Field label="Billed per">
          {(ids) => (
            <Select {...ids} value={unit} options={billedUnits} onChange={(chosen) => onChange({ unit: chosen })} />
          )}
        </Field>
      )}
      <div className="pair">
        {unit === 'request' && (
          <ProductField
            label={
              kind === 'image'
                ? 'Price per image ($)'
                : kind === 'audio'
                  ? 'Price per audio file ($)'
                  : 'Price per call ($)'
            }
            value={draft.request}
            fault={fault('request', usdOfCall(draft.request) === null)}
            onChange={(request) => onChange({ request })}
          />
        )}
        {unit === 'tokens' &&
          tokenPrices
            .filter(({ name }) => kind === 'chat' || name === 'prompt')
            .map(({ name, label, isOptional, hint }) => (
              <ProductField
                key={name}
                label={label}
                value={draft[name]}
                isOptional={isOptional}
                {...(hint !== undefined && { hint })}
                fault={fault(name, !(isOptional && draft[name].trim() === '') && usdOfMillion(draft[name]) === null)}
                onChange={(text) => onChange({ [name]: text })}
              />
            ))}
      </div>
      <p className="soft small">
        {pricing?.unit === 'tokens' &&
          (kind === 'embedding'
            ? `One input token costs $${pricing.prompt}. `
            : `One input token costs $${pricing.prompt}, one output token $${pricing.completion}. `)}
        New prices apply to calls admitted after you save. Calls already admitted keep their price.
      </p>
    </fieldset>
  )
}

/** Text or number field of a product. The API validates numbers. */
export function ProductField({
  isOptional = false,
  isNumber = false,
  ...field
}: ComponentProps<typeof TextField> & { isOptional?: boolean; isNumber?: boolean }) {
  const number = {
    inputMode: 'decimal',
    pattern: '[0-9]+([.][0-9]+)?',
    title: 'Enter a number, such as 2.50.',
  } as const
  return <TextField {...field} required={!isOptional} {...(isNumber && number)} />
}

/** Props of each section of the product form. */
export interface ProductFieldsProps {
  draft: ProductDraft
  isNew: boolean
  /** API error for a field, by its name in the request. */
  faultOf: (param: string) => string | null
  onChange: (part: Partial<ProductDraft>) => void
}
