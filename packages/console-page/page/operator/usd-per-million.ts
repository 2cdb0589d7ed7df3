import { usdFromPico } from '@gateway/pricing/price'

const PLACES = 6

/** Exact price of one token from a typed price per million: "0.15" gives "0.00000015". null if it isn't a price. */
export function usdOfMillion(text: string): string | null {
  const [, whole, fraction = ''] = /^\s*\$?\s*(\d{1,9})(?:\.(\d{1,6}))?\s*$/.exec(text) ?? []
  return whole === undefined ? null : usdFromPico(BigInt(whole + fraction.padEnd(PLACES, '0')))
}

/** Typed price per call as the API expects it, or null if it isn't a price. */
export function usdOfCall(text: string): string | null {
  const [, usd] = /^\s*\$?\s*(\d{1,7}(?:\.\d{1,12})?)\s*$/.exec(text) ?? []
  return usd ?? null
}
