import { jsonLimits } from '@gateway/api/limits'

export interface JsonFacts {
  /** The first of `jsonLimits` that the text exceeds; null if none. */
  exceeded: keyof typeof jsonLimits | null
  /** Whether a number may be beyond double precision. */
  mayOverflow: boolean
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
 */
export function inspectJson(text: Uint8Array): JsonFacts {
  let levels = 0
  let fields = 0
  let values = 1
  let digits = 0
  let mayOverflow = false
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
      at++
      while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1
    } else if (byte === COMMA) {
      if (++values > jsonLimits.values) return { exceeded: 'values', mayOverflow }
    } else if (byte === COLON) {
      if (++fields > jsonLimits.fields) return { exceeded: 'fields', mayOverflow }
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++
      if (++levels > jsonLimits.levels) return { exceeded: 'levels', mayOverflow }
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) levels--
  }
  return { exceeded: null, mayOverflow }
}
