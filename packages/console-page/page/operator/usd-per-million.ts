import { usdFromPico } from '@gateway/pricing/price'

const PLACES = 6

/** What somebody typed for a million tokens, as the exact price of one: "0.15" is "0.00000015". null for what is no price. */
export function usdOfMillion(text: string): string | null {
  const [, whole, fraction = ''] = /^\s*\$?\s*(\d{1,9})(?:\.(\d{1,6}))?\s*$/.exec(text) ?? []
  return whole === undefined ? null : usdFromPico(BigInt(whole + fraction.padEnd(PLACES, '0')))
}

/** What somebody typed for a call, as the API takes it; null for what is no price. */
export function usdOfCall(text: string): string | null {
  const [, usd] = /^\s*\$?\s*(\d{1,7}(?:\.\d{1,12})?)\s*$/.exec(text) ?? []
  return usd ?? null
}
