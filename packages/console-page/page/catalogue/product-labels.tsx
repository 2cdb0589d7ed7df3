import type { ProductKind, ProductPricing, ProductRecord } from '@gateway/api/console/products'
import type { ReactNode } from 'react'
import type { Use } from './catalogue-view.ts'
import type { Tone } from '../components/values.tsx'
import { count } from '../components/usd.ts'
import { picoFromUsd } from '@gateway/pricing/price'

export const kindLabels: Record<ProductKind, string> = {
  chat: 'Text',
  embedding: 'Embeddings',
  image: 'Images',
  audio: 'Audio',
}
export const stateLabels: Record<ProductRecord['state'], { text: string; tone: Tone }> = {
  draft: { text: 'Draft', tone: 'plain' },
  published: { text: 'Published', tone: 'good' },
  suspended: { text: 'Suspended', tone: 'warn' },
}
const units: Record<ProductKind, string> = { chat: 'call', embedding: 'call', image: 'image', audio: 'audio file' }
const BYTES_A_MIB = 1_048_576

/** Exact prices of a product and their units. */
export function priceLines(kind: ProductKind, pricing: ProductPricing): { what: string; usd: string }[] {
  if (pricing.unit === 'request') return [{ what: `per ${units[kind]}`, usd: usdPrice(pricing.request) }]
  const { prompt, completion, cachedPrompt, cacheWrite, reasoning } = pricing
  const line = (what: string, usd: string | undefined) =>
    usd === undefined ? [] : [{ what: `per 1M ${what}`, usd: usdPrice(perMillion(usd)) }]
  return [
    ...line('input tokens', prompt),
    ...line('cached input tokens', cachedPrompt),
    ...line('cache write tokens', cacheWrite),
    ...line('output tokens', kind === 'embedding' ? undefined : completion),
    ...line('reasoning tokens', reasoning),
  ]
}

/** Input and output modalities, such as `text, image → text`. */
export function modalityLabels({ modalities: { input, output } }: ProductRecord): string {
  return `${input.join(', ')} → ${output.join(', ')}`
}

/** Context window and max output. */
export function sizeLabels({ kind, contextLength, maxOutputTokens, maxOutputBytes }: ProductRecord): string[] {
  if (kind === 'embedding') return [`${count(contextLength)} input tokens`]
  if (kind !== 'chat') return [`${count(contextLength)} input tokens`, `max ${bytesLabels(maxOutputBytes)} output`]
  return [`${count(contextLength)} tokens`, `max ${count(maxOutputTokens)} output`]
}

/** Parameters that callers can set, with their allowed values if listed. */
export function parameterLabels({ kind, supportedParameters, parameterValues }: ProductRecord): string {
  if (kind === 'chat' || kind === 'embedding') return supportedParameters.join(', ') || 'none'
  const values = Object.entries(parameterValues).map(([name, each]) => `${name}: ${(each ?? []).join(', ')}`)
  return values.join('; ') || 'none'
}

function bytesLabels(bytes: number): string {
  return bytes % BYTES_A_MIB === 0 ? `${count(bytes / BYTES_A_MIB)} MiB` : `${count(bytes)} bytes`
}

export const choiceLabels: Record<Use, string> = { callable: 'Available', askable: 'Not assigned' }

export interface ProductFact {
  what: string
  of: (product: ProductRecord) => ReactNode
}

/** What callers know of a product, apart from its name. */
export const productFacts: ProductFact[] = [
  { what: 'Price', of: (product) => <PriceList of={product} /> },
  { what: 'Context', of: (product) => sizeLabels(product).map((line) => <div key={line}>{line}</div>) },
  { what: 'Kind', of: ({ kind }) => kindLabels[kind] },
  { what: 'Modalities', of: modalityLabels },
  { what: 'Parameters', of: parameterLabels },
  { what: 'Moderated', of: ({ isModerated }) => (isModerated ? 'yes' : 'no') },
  { what: 'Publisher', of: ({ ownedBy }) => ownedBy },
]

/** Prices of a product, one per line. */
export function PriceList({ of: { kind, pricing } }: { of: Pick<ProductRecord, 'kind' | 'pricing'> }) {
  return (
    <ul>
      {priceLines(kind, pricing).map(({ what, usd }) => (
        <li key={what} className="figure">
          {usd} <span className="soft small">{what}</span>
        </li>
      ))}
    </ul>
  )
}

const PICO_DIGITS = 12
const MILLION_DIGITS = 6

/** Short price of a product, per million tokens or per call. */
export function priceLabels(pricing: ProductPricing): string {
  if (pricing.unit === 'request') return `${usdPrice(pricing.request)} each`
  return `${usdPrice(perMillion(pricing.prompt))} in, ${usdPrice(perMillion(pricing.completion))} out per 1M`
}

/** Converts a unit price to the price per million, in USD without trailing zeros. */
export function perMillion(usd: string): string {
  const digits = String(picoFromUsd(usd) ?? 0n).padStart(PICO_DIGITS + 1, '0')
  const point = digits.length - PICO_DIGITS + MILLION_DIGITS
  return withoutZeros(`${digits.slice(0, point).replace(/^0+(?=\d)/, '')}.${digits.slice(point)}`)
}

/** Exact price, in whole dollars or with at least two decimals. */
function usdPrice(decimal: string): string {
  const [whole, part] = withoutZeros(decimal).split('.')
  return part === undefined ? `$${whole}` : `$${whole}.${part.padEnd(2, '0')}`
}

function withoutZeros(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
}
