import { TextField } from '../components/fields.tsx'
import type { RateLimits } from '@gateway/api/rates'
import { count } from '../components/usd.ts'

/** Requests and tokens per minute, and concurrent calls. */
export function RateFields({ draft, onChange }: { draft: RateDraft; onChange: (part: Partial<RateDraft>) => void }) {
  const field = (name: keyof RateDraft) => (
    <TextField
      label={rateNames[name]}
      type="number"
      min={1}
      placeholder="No limit"
      value={draft[name]}
      onChange={(text) => onChange({ [name]: text })}
    />
  )
  return (
    <>
      <div className="pair">
        {field('requestsPerMinute')}
        {field('tokensPerMinute')}
      </div>
      {field('concurrentCalls')}
    </>
  )
}

/** Form values of rate limits; empty: no limit. */
export type RateDraft = Record<keyof RateLimits, string>

export const rateNames = {
  requestsPerMinute: 'Requests per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrentCalls: 'Concurrent calls',
} as const satisfies Record<keyof RateLimits, string>

const names = Object.keys(rateNames) as (keyof RateLimits)[]

export const emptyRates: RateDraft = { requestsPerMinute: '', tokensPerMinute: '', concurrentCalls: '' }

export function draftOfRates(rates: RateLimits): RateDraft {
  const texts = names.map((name) => [name, rates[name] === null ? '' : String(rates[name])])
  return Object.fromEntries(texts) as RateDraft
}

export function ratesOfDraft(draft: RateDraft): RateLimits {
  const limits = names.map((name) => [name, draft[name].trim() === '' ? null : Number(draft[name])])
  return Object.fromEntries(limits) as RateLimits
}

/** "600 requests per minute, 5 concurrent calls"; null without limits. */
export function ratesText(rates: RateLimits): string | null {
  const said = names.flatMap((name) =>
    rates[name] === null ? [] : `${count(rates[name])} ${rateNames[name].toLowerCase()}`,
  )
  return said.length === 0 ? null : said.join(', ')
}
