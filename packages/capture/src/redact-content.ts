import { CAPTURED_CHARACTERS } from '@gateway/api/console/capture'
import { redactedJson } from '@gateway/service-kit/text/redact'
import type { HideText } from './hide-text.ts'

// What of a request or an answer may be captured.
//   C1  Credentials are hidden first, by their form and by the names before them (service-kit, text/redact.ts); then what
//       the project hides.
//   C2  Images and files are left out.
//   C3  At most CAPTURED_CHARACTERS of text. Text is hidden before it is cut, with a margin behind the cut, so that no
//       part of a secret is left at the end.

/** Longer than any secret. */
const MARGIN = 16_384
const dataUrl = /^data:([\w.+/-]{1,100});base64,/

/** Returns what may be captured of a JSON value, and whether text was cut. */
export function redactContent(value: unknown, hide: HideText): { shown: unknown; isCut: boolean } {
  let left = CAPTURED_CHARACTERS
  let isCut = false

  function shownText(text: string): string {
    const media = dataUrl.exec(text)
    if (media) return `data:${media[1]};base64,(left out)` // C2
    const seen = text.slice(0, left + MARGIN)
    const hidden = hide(seen)
    const whole = seen.length === text.length ? hidden : hidden.slice(0, Math.max(0, hidden.length - MARGIN))
    const shown = whole.slice(0, left)
    left -= shown.length
    if (shown.length === hidden.length && seen.length === text.length) return shown
    isCut = true
    left = 0
    return `${shown}…`
  }

  function shownValue(value: unknown): unknown {
    if (typeof value === 'string') return shownText(value)
    if (Array.isArray(value)) return value.map(shownValue)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shownValue(inner)]))
  }

  return { shown: shownValue(JSON.parse(redactedJson(value))), isCut } // C1
}
