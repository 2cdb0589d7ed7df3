import { type HiddenKind, CAPTURED_CHARACTERS } from '@gateway/api/console/capture'
import { RE2JS } from 're2js'
import { redactedJson } from '@gateway/service-kit/text/redact'
import { findItems } from './find-items.ts'

/** Hides what identifies people or was named by a project, in text whose credentials are hidden already. */
export type HideText = (text: string) => string

/**
 * Linear in the length of the text: RE2 does not backtrack.
 * @param patterns in RE2 syntax; each must be valid (`patternFault`)
 */
export function openHideText(hide: readonly HiddenKind[], patterns: readonly string[]): HideText {
  const own = patterns.map((pattern) => RE2JS.compile(pattern))
  return (text) => {
    let shown = text
    for (const pattern of own) shown = pattern.matcher(shown).replaceAll('[hidden]')
    return hideItems(shown, hide)
  }
}

function hideItems(text: string, kinds: readonly HiddenKind[]): string {
  let shown = ''
  let end = 0
  for (const item of findItems(text, kinds)) {
    shown += `${text.slice(end, item.start)}[${item.kind}]`
    end = item.end
  }
  return shown + text.slice(end)
}

/** Why a regular expression can't be used to hide text, as the end of a sentence; null: it can. */
export function patternFault(pattern: string): string | null {
  try {
    const compiled = RE2JS.compile(pattern)
    return samples.some((text) => findsNothing(compiled, text))
      ? 'can match an empty text, so it would match everywhere'
      : null
  } catch (error) {
    return `is not a regular expression in RE2 syntax: ${(error as Error).message}`
  }
}

const samples = ['', 'a', ' 1-']

/** Whether it matches an empty part of a text. */
function findsNothing(pattern: RE2JS, text: string): boolean {
  const matcher = pattern.matcher(text)
  while (matcher.find()) if (matcher.start() === matcher.end()) return true
  return false
}

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
