/** Pico-USD (10^-12 USD) per unit. A decimal price string of up to 12 places is exact in it. */
export type Pico = bigint

/** Integers of micro-USD (10^-6 USD). */
export type Micro = bigint

const PICO_PER_MICRO = 1_000_000n
const PLACES = 12

/** What a product costs, as pico-USD per prompt token, completion token and successful call. */
export interface Price {
  promptPico: Pico
  completionPico: Pico
  requestPico: Pico
  /** Per prompt token read from a cache, at most `promptPico`. Absent or null: like the rest of the prompt. */
  cachedPico?: Pico | null
  /** Per prompt token written to a cache, at least `promptPico`. Absent or null: like the rest of the prompt. */
  cacheWritePico?: Pico | null
  /**
   * Per reasoning token of the completion, at most `completionPico`. Absent or null: like the rest of the completion.
   */
  reasoningPico?: Pico | null
}

/** Tokens with a separate price: two parts of the prompt, and one of the completion. */
export interface PricedParts {
  cachedTokens: bigint
  cacheWriteTokens: bigint
  reasoningTokens: bigint
}

/**
 * Parses a decimal string of USD such as `"0.00000015"`. Returns null if it is invalid, negative or has over 12 places.
 */
export function picoFromUsd(usd: string): Pico | null {
  const match = /^(\d{1,7})(?:\.(\d{1,12}))?$/.exec(usd)
  return match ? BigInt(match[1]! + (match[2] ?? '').padEnd(PLACES, '0')) : null
}

/** Writes pico-USD as the shortest exact decimal string of USD. */
export function usdFromPico(pico: Pico): string {
  const digits = pico.toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return digits.slice(0, -PLACES) + (fraction && `.${fraction}`)
}

/** Returns the cost of a call with this usage, rounded up once to whole micro-USD (money §1.3). */
export function costMicro(...call: Parameters<typeof costPico>): Micro {
  return (costPico(...call) + PICO_PER_MICRO - 1n) / PICO_PER_MICRO
}

/**
 * Returns the exact cost of a call with this usage. Parts never exceed what they are parts of; tokens reported both as
 * read and as written were read. Never more than if the whole prompt had been written to a cache, which no other prompt
 * token costs more than.
 */
export function costPico(
  price: Price,
  promptTokens: bigint,
  completionTokens: bigint,
  { cachedTokens = 0n, cacheWriteTokens = 0n, reasoningTokens = 0n }: Partial<PricedParts> = {},
): Pico {
  const { promptPico, completionPico, requestPico } = price
  const cached = smaller(cachedTokens, promptTokens)
  const rest = promptTokens - cached
  const read = cached * (price.cachedPico ?? promptPico)
  const prompt = read + partCost(rest, promptPico, cacheWriteTokens, price.cacheWritePico)
  const reasoned = partCost(completionTokens, completionPico, reasoningTokens, price.reasoningPico)
  return prompt + reasoned + requestPico
}

/** Returns the charge for this cost: never more than was reserved (money §3.2). */
export function chargeMicro(cost: Micro, reserved: Micro): Micro {
  return smaller(cost, reserved)
}

function partCost(tokens: bigint, pico: Pico, part: bigint, partPico: Pico | null | undefined): Pico {
  const priced = smaller(part, tokens)
  return (tokens - priced) * pico + priced * (partPico ?? pico)
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
