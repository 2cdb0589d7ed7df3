/** A response doesn't match the wire format. The message names the place, never the content. */
export class UnfitAnswer extends Error {}

/** A provider sent an error inside a response with a success status. */
export class ErrorInAnswer extends Error {
  /** The equivalent status; undefined if the error doesn't say. */
  readonly providerStatus: number | undefined

  constructor(providerStatus: number | undefined) {
    super('an error inside the answer')
    this.providerStatus = providerStatus
  }
}

export type Fields = Record<string, unknown>

/** Returns the fields of a value; an empty object if it isn't an object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : none
}

const none: Fields = Object.freeze({})

/** Returns a string, or null if absent. Throws `UnfitAnswer` for anything else. */
export function textOrNull(value: unknown, where: string): string | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  throw new UnfitAnswer(`${where} is not a text`)
}

export function text(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  throw new UnfitAnswer(`${where} is not a text`)
}

/** Returns a list of at most `maxItems`; an empty list if absent or null. */
export function list(value: unknown, maxItems: number, where: string): unknown[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw new UnfitAnswer(`${where} is not a list`)
  if (value.length > maxItems) throw new UnfitAnswer(`${where} is too long`)
  return value
}

/** Parses JSON of a response. Throws `UnfitAnswer`, because the parser's message would quote the response. */
export function parseUntrusted(json: string, what: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new UnfitAnswer(`${what} is not JSON`)
  }
}

/** Whether the value is a valid token count. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Counts that are parts of a price. */
const charged = new Set(['cached_tokens', 'cache_write_tokens', 'reasoning_tokens'])

/**
 * Returns the valid counts of these names in the details of a usage, `undefined` if there are no details, and null if one
 * that is charged is invalid. Null stands for none.
 */
export function countsIn(details: unknown, names: readonly string[]): Record<string, number> | null | undefined {
  if (typeof details !== 'object' || details === null) return undefined
  const given = fieldsOf(details)
  const counts: Record<string, number> = {}
  for (const name of names) {
    const count = given[name] ?? undefined
    if (isCount(count)) counts[name] = count
    else if (count !== undefined && charged.has(name)) return null
  }
  return counts
}
