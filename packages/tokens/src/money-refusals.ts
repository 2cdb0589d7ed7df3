import { refuse, type Refusal } from '@gateway/contracts/refusal'
import { windowEndMs, type Reset } from '@gateway/money/spending-window'

/** What the ledger says where a window or a wallet lacks money. Micro-USD; moments as Postgres writes them into JSON. */
export interface MoneyFacts {
  reset: Reset
  windowStart: string
  limitMicro: number
  spentMicro: number
  reservedMicro: number
  neededMicro: number
  availableMicro: number
  affordableMaxTokens: number
}

type LimitFacts = Omit<MoneyFacts, 'availableMicro' | 'affordableMaxTokens'>
type WalletFacts = Pick<MoneyFacts, 'availableMicro' | 'reservedMicro' | 'neededMicro' | 'affordableMaxTokens'>

/** 403 `key_limit`, with when its window ends (spec 5.5). */
export function keyLimit(facts: LimitFacts): Refusal {
  const { reset, windowStart, limitMicro, spentMicro, reservedMicro, neededMicro } = facts
  const endMs = windowEndMs(reset, Date.parse(windowStart))
  const resetsAt = endMs === null ? null : isoSeconds(endMs)
  const details = { limitMicro, spentMicro, reservedMicro, neededMicro, resetsAt }
  return refuse('key_limit', { reset, limitMicro, resetsAt }, { details })
}

/** 402 `insufficient_budget` (spec 5.8). */
export function insufficientBudget(facts: WalletFacts): Refusal {
  const { availableMicro, reservedMicro, neededMicro, affordableMaxTokens } = facts
  const details = { availableMicro, reservedMicro, neededMicro, affordableMaxTokens }
  return refuse('insufficient_budget', details, { details })
}

/** ISO 8601 in UTC, to the second. */
export function isoSeconds(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
