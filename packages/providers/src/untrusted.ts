/** An answer that doesn't fit the wire format; the message says where and never what. */
export class UnfitAnswer extends Error {}

/** An error that a provider put inside an answer which began well. */
export class ErrorInAnswer extends Error {
  /** What the status would have been; undefined where the error doesn't say. */
  readonly providerStatus: number | undefined

  constructor(providerStatus: number | undefined) {
    super('an error inside the answer')
    this.providerStatus = providerStatus
  }
}

export type Fields = Record<string, unknown>

/** The value's fields; of anything that isn't an object, none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : none
}

const none: Fields = Object.freeze({})

/** A text, or null where the provider has none. Throws `UnfitAnswer` for anything else. */
export function textOrNull(value: unknown, where: string): string | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  throw new UnfitAnswer(`${where} is not a text`)
}

export function text(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  throw new UnfitAnswer(`${where} is not a text`)
}

/** A list of at most `maxItems`; absent and null are the empty list. */
export function list(value: unknown, maxItems: number, where: string): unknown[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw new UnfitAnswer(`${where} is not a list`)
  if (value.length > maxItems) throw new UnfitAnswer(`${where} is too long`)
  return value
}

/** JSON of an answer. Throws `UnfitAnswer`: the parser's own message quotes the answer. */
export function parseUntrusted(json: string, what: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new UnfitAnswer(`${what} is not JSON`)
  }
}

/** A count of tokens. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
