import { jsonLimits } from '@gateway/api/limits'

export interface JsonFacts {
  /** The first of `jsonLimits` that the text exceeds; null if none. */
  exceeded: keyof typeof jsonLimits | null
  /** Whether a number may be beyond double precision. */
  mayOverflow: boolean
  /** Number of fields, those of one name in one object included. */
  fields: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const UPPER_E = 0x45
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const LOWER_E = 0x65
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Digits of the largest double. */
const MOST_DIGITS = 309

/**
 * Inspects JSON in one pass over its bytes, before it is parsed: parsing and validating take time by the number of
 * fields and values, up to a hundred times as long as for the same bytes of text. Doesn't check that the text is valid.
 * @param named receives each name with the number of its object
 */
export function inspectJson(text: Buffer, named?: (name: string, object: number) => void): JsonFacts {
  let fields = 0
  let values = 1
  let digits = 0
  let mayOverflow = false
  let nameStart = 0
  let nameEnd = 0
  const open: number[] = [] // the objects and lists around this place, by the number of their value
  const exceeds = (exceeded: keyof typeof jsonLimits) => ({ exceeded, mayOverflow, fields })
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!
    if (byte >= ZERO && byte <= NINE) {
      if (++digits === MOST_DIGITS) mayOverflow = true
      continue
    }
    if ((byte === LOWER_E || byte === UPPER_E) && digits > 0) mayOverflow = true
    if (byte === DOT) continue
    digits = 0
    if (byte === QUOTE) {
      nameStart = ++at
      while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1
      nameEnd = at
    } else if (byte === COMMA) {
      if (++values > jsonLimits.values) return exceeds('values')
    } else if (byte === COLON) {
      if (++fields > jsonLimits.fields) return exceeds('fields')
      named?.(nameOf(text, nameStart, nameEnd), open.at(-1) ?? 0)
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (open.push(++values) > jsonLimits.levels) return exceeds('levels')
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      open.pop()
    }
  }
  return { exceeded: null, mayOverflow, fields }
}

/**
 * Returns the first name that an object of the text has twice, or null. A parser keeps the last of two fields of one
 * name, so there is one if and only if the value has fewer fields than the text.
 * @param value what the text was parsed to
 * @param fields of the text, as `inspectJson` counts them
 */
export function duplicateIn(text: Buffer, value: unknown, fields: number): string | null {
  if (fieldsOf(value) === fields) return null
  const seen = new Set<string>()
  let duplicate: string | null = null
  inspectJson(text, (name, object) => {
    const field = `${object} ${name}`
    if (seen.has(field)) duplicate ??= name
    seen.add(field)
  })
  return duplicate
}

function fieldsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Array.isArray(value) ? value : Object.values(value)
  return inner.reduce<number>((sum, one) => sum + fieldsOf(one), inner === value ? 0 : inner.length)
}

/** Two spellings of a name are one name. */
function nameOf(text: Buffer, start: number, end: number): string {
  const written = text.toString('utf8', start, end)
  if (!written.includes('\\')) return written
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return written // the parser refuses it
  }
}
