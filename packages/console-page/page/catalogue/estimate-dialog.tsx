import { useState } from 'react'
import type { ProductRecord, ProductPricing } from '@gateway/api/console/products'
import { Dialog } from '../components/dialog.tsx'
import { Facts, Money } from '../components/values.tsx'
import { Field } from '../components/fields.tsx'
import { PriceList } from './product-labels.tsx'
import { costMicro, type Micro } from '@gateway/pricing/price'
import { priceOf } from './catalogue-rows.ts'

const FAULT = 'Enter a whole number with at most nine digits.'

/** Estimates the cost of using a model at current prices, exact to the micro-USD. */
export function EstimateDialog({ of: product, onClose }: { of: ProductRecord; onClose: () => void }) {
  const [use, setUse] = useState(firstUse)
  const { pricing } = product
  const estimated = estimateCost(pricing, use)
  const fields = (Object.keys(use) as (keyof Use)[]).filter((name) => name === 'calls' || isPriced(name, product))
  return (
    <Dialog title={`Cost of ${product.name}`} onClose={onClose}>
      <PriceList of={product} />
      <div className="pair">
        {fields.map((name) => (
          <Field key={name} label={labelOf(name, product)} fault={wholeOf(use[name]) === null ? FAULT : null}>
            {(ids) => (
              <input
                {...ids}
                inputMode="numeric"
                autoComplete="off"
                value={use[name]}
                onChange={({ target }) => setUse({ ...use, [name]: target.value })}
              />
            )}
          </Field>
        ))}
      </div>
      {estimated && (
        <div role="status">
          <Facts
            of={[
              [pricing.unit === 'request' ? labels[product.kind] : 'Per call', <Money micro={estimated.callMicro} />],
              ['Per day', <Money micro={estimated.dayMicro} />],
              ['Per month (30 days)', <Money micro={estimated.monthMicro} />],
            ]}
          />
        </div>
      )}
      <p className="soft small">
        At current prices. The cost of each call is rounded up to the next $0.000001.
        {product.modalities.input.includes('image') && ' Input images count as input tokens.'}
      </p>
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

const labels = { chat: 'Per call', embedding: 'Per call', image: 'Per image', audio: 'Per audio file' } as const

/** Whether a token kind has a separate price. If not, it costs the same as the other tokens. */
function isPriced(name: keyof Use, { kind, pricing }: ProductRecord): boolean {
  if (pricing.unit === 'request') return false
  if (name === 'completion') return kind !== 'embedding'
  if (name === 'cached') return pricing.cachedPrompt !== undefined
  if (name === 'written') return pricing.cacheWrite !== undefined
  if (name === 'reasoning') return pricing.reasoning !== undefined
  return true
}

function labelOf(name: keyof Use, { kind }: ProductRecord): string {
  const words: Record<keyof Use, string> = {
    prompt: 'Input tokens per call',
    cached: 'Cached input tokens',
    written: 'Cache write tokens',
    completion: 'Output tokens per call',
    reasoning: 'Reasoning tokens',
    calls: kind === 'image' ? 'Images per day' : kind === 'audio' ? 'Audio files per day' : 'Calls per day',
  }
  return words[name]
}

const DAYS = 30n
const MOST_DIGITS = 9

/** Typed usage per call and number of calls per day. */
interface Use {
  prompt: string
  cached: string
  written: string
  completion: string
  reasoning: string
  calls: string
}

export const firstUse: Use = {
  prompt: '1000',
  cached: '0',
  written: '0',
  completion: '500',
  reasoning: '0',
  calls: '100',
}

interface CostEstimate {
  callMicro: Micro
  dayMicro: Micro
  /** 30 days. */
  monthMicro: Micro
}

/** Cost of calls as the ledger charges them: each call is rounded up separately. null if a number is missing. */
export function estimateCost(pricing: ProductPricing, use: Use): CostEstimate | null {
  const [prompt, cached, written, completion, reasoning, calls] = [
    wholeOf(use.prompt),
    wholeOf(use.cached),
    wholeOf(use.written),
    wholeOf(use.completion),
    wholeOf(use.reasoning),
    wholeOf(use.calls),
  ]
  if (prompt === null || cached === null || written === null) return null
  if (completion === null || reasoning === null || calls === null) return null
  const parts = { cachedTokens: cached, cacheWriteTokens: written, reasoningTokens: reasoning }
  const callMicro = costMicro(priceOf(pricing), prompt, completion, parts)
  return { callMicro, dayMicro: callMicro * calls, monthMicro: callMicro * calls * DAYS }
}

/** Parses a whole number; null if invalid. */
function wholeOf(text: string): bigint | null {
  const digits = text.trim()
  return /^\d+$/.test(digits) && digits.length <= MOST_DIGITS ? BigInt(digits) : null
}
