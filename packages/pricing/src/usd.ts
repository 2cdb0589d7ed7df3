const MICRO_DIGITS = 6

/** Formats micro-USD as dollars, with every digit that is not zero and at least cents: 4999120 is $4.99912. */
export function usd(micro: number | bigint): string {
  const digits = String(micro < 0 ? -micro : micro).padStart(MICRO_DIGITS + 1, '0')
  const fraction = digits.slice(-MICRO_DIGITS).replace(/0{1,4}$/, '')
  return `${micro < 0 ? '−' : ''}$${grouped(digits.slice(0, -MICRO_DIGITS))}.${fraction}`
}

/**
 * Parses typed text as micro-USD: "5" is 5000000. null if it is not an amount, finer than a micro-USD, or like "1,500",
 * whose comma could be either.
 */
export function microOf(text: string): number | null {
  const [, whole, fraction = ''] =
    /^\s*\$?\s*(?![1-9]\d{0,2},\d{3}\s*$)(\d{1,9})(?:[.,](\d{1,6}))?\s*$/.exec(text) ?? []
  return whole === undefined ? null : Number(whole + fraction.padEnd(MICRO_DIGITS, '0'))
}

/** Formats 1234567 as 1,234,567. */
export function count(number: number | bigint): string {
  return grouped(String(number))
}

/** Formats a count with its noun: 1 key, 2 keys. */
export function several(number: number, one: string): string {
  return `${count(number)} ${one}${number === 1 ? '' : 's'}`
}

function grouped(digits: string): string {
  return digits.replaceAll(/\B(?=(\d{3})+$)/g, ',')
}
