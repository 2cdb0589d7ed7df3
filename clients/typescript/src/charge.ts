export interface Charge {
  /** Micro-USD, an integer: millionths of a US dollar. */
  micro: number
  /** The same amount in US dollars, exact: `0.00093`. */
  usd: string
}

/** @param micro micro-USD */
export function chargeOf(micro: number): Charge {
  const fraction = String(micro % 1_000_000)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const dollars = String(Math.trunc(micro / 1_000_000))
  return { micro, usd: fraction === '' ? dollars : `${dollars}.${fraction}` }
}

/**
 * Returns the charge of a chat call from the `usage` of its response, or of the last chunk of its stream, as OpenAI
 * clients return it. Null if it is not on record yet; `invocation` with the id of the response reads it later.
 */
export function chargeOfUsage(usage: object | null | undefined): Charge | null {
  const { cost_micro: micro } = (usage ?? {}) as { cost_micro?: unknown }
  return typeof micro === 'number' ? chargeOf(micro) : null
}
