import { jsonLimits } from '@gateway/api/limits'

export interface JsonFacts {
  /** The first of `jsonLimits` that the text exceeds; null if none. */
  exceeded: keyof typeof jsonLimits | null
  /** Whether a number may be beyond double precision. */
  mayOverflow: boolean
  /** The first name that an object has twice; null if none. */
  duplicate: string | null
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
 * fields and values, up to a hundred times as long as for the same bytes of text, and a parser keeps the last of two
 * fields of one name. Doesn't check that the text is valid.
 */
export function inspectJson(text: Buffer): JsonFacts {
  let levels = 0
  let fields = 0
  let values = 1
  let digits = 0
  let mayOverflow = false
  let duplicate: string | null = null
  let name = { start: 0, end: 0 }
  const names: (Set<string> | null)[] = [] // of each open object, null for a list
  const exceeds = (exceeded: keyof typeof jsonLimits) => ({ exceeded, mayOverflow, duplicate })
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
      const start = ++at
      while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1
      name = { start, end: at }
    } else if (byte === COMMA) {
      if (++values > jsonLimits.values) return exceeds('values')
    } else if (byte === COLON) {
      if (++fields > jsonLimits.fields) return exceeds('fields')
      const known = names.at(-1)
      if (!known || duplicate !== null) continue
      const field = nameOf(text, name)
      if (known.has(field)) duplicate = field
      known.add(field)
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++
      if (++levels > jsonLimits.levels) return exceeds('levels')
      names.push(byte === OPEN_OBJECT ? new Set() : null)
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      levels--
      names.pop()
    }
  }
  return { exceeded: null, mayOverflow, duplicate }
}

/** Two spellings of a name are one name. */
function nameOf(text: Buffer, { start, end }: { start: number; end: number }): string {
  const written = text.toString('utf8', start, end)
  if (!written.includes('\\')) return written
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return written // the parser refuses it
  }
}
