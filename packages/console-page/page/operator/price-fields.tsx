import type { ProductKind } from '@gateway/api/console/products'
import type { ComponentProps } from 'react'
import { TextField } from '../components/fields.tsx'
import { SelectField } from '../components/select.tsx'
import {
  costOf,
  priceFieldsOf,
  pricingOf,
  usdOfCall,
  usdOfMillion,
  type PriceDraft,
  type PriceField,
  type ProductDraft,
} from './product-draft.ts'

const FAULT = 'Enter an amount such as 5 or 0.25, with up to six decimal places.'
const tokenPrices: { name: PriceField; what: string; isOptional: boolean; hint?: string }[] = [
  { name: 'prompt', what: 'Input tokens', isOptional: false },
  { name: 'completion', what: 'Output tokens', isOptional: false },
  { name: 'cachedPrompt', what: 'Cached input tokens', isOptional: true, hint: 'Leave empty to use the input price.' },
  {
    name: 'cacheWrite',
    what: 'Cache write tokens',
    isOptional: true,
    hint: 'At least the input price. Leave empty to use the input price.',
  },
  { name: 'reasoning', what: 'Reasoning tokens', isOptional: true, hint: 'Leave empty to use the output price.' },
]

const billedUnits = [
  ['tokens', 'token'],
  ['request', 'call'],
] as const

const unitNames: Record<ProductKind, string> = { chat: 'call', embedding: 'call', image: 'image', audio: 'audio file' }

/** Prices. A call keeps the price it was admitted at. */
export function PriceFields({ draft, isTried, faultOf, onChange }: ProductFieldsProps & { isTried: boolean }) {
  const pricing = pricingOf(draft.kind, draft)
  return (
    <>
      <PriceInputs
        kind={draft.kind}
        prices={draft}
        isTried={isTried}
        faultOf={(name) => faultOf(`pricing.${name}`)}
        onChange={onChange}
      />
      <p className="soft small">
        {pricing?.unit === 'tokens' &&
          (draft.kind === 'embedding'
            ? `One input token costs $${pricing.prompt}. `
            : `One input token costs $${pricing.prompt}, one output token $${pricing.completion}. `)}
        New prices apply to calls admitted after you save. Calls already admitted keep their price.
      </p>
    </>
  )
}

/** Fields of a price, or of what a provider charges: then all are optional. */
export function PriceInputs({
  kind,
  prices,
  isCost = false,
  isTried,
  faultOf,
  onChange,
}: {
  kind: ProductKind
  prices: PriceDraft
  isCost?: boolean
  /** Whether the form was submitted: invalid amounts are then pointed out. */
  isTried: boolean
  faultOf: (name: PriceField) => string | null
  onChange: (part: Partial<PriceDraft>) => void
}) {
  const { unit } = prices
  const isNeeded = !isCost || costOf(kind, prices) === null
  const fault = (name: PriceField, isWrong: boolean) => faultOf(name) ?? (isTried && isWrong ? FAULT : null)
  return (
    <>
      {(kind === 'chat' || kind === 'embedding') && (
        <SelectField
          label={isCost ? 'Cost per' : 'Billed per'}
          value={unit}
          options={billedUnits}
          onChange={(chosen) => onChange({ unit: chosen })}
        />
      )}
      <div className="pair">
        {unit === 'request' && (
          <ProductField
            label={`${isCost ? 'Cost' : 'Price'} per ${unitNames[kind]} ($)`}
            value={prices.request}
            isOptional={isCost}
            fault={fault('request', isNeeded && usdOfCall(prices.request) === null)}
            onChange={(request) => onChange({ request })}
          />
        )}
        {unit === 'tokens' &&
          tokenPrices
            .filter(({ name }) => priceFieldsOf(kind, prices).includes(name))
            .map(({ name, what, isOptional, hint }) => (
              <ProductField
                key={name}
                label={isCost ? `${what.replace(' tokens', '')} cost ($/1M)` : `${what} ($/1M)`}
                value={prices[name]}
                isOptional={isOptional || isCost}
                {...(hint !== undefined && !isCost && { hint })}
                fault={fault(
                  name,
                  isNeeded && !(isOptional && prices[name].trim() === '') && usdOfMillion(prices[name]) === null,
                )}
                onChange={(text) => onChange({ [name]: text })}
              />
            ))}
      </div>
    </>
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
