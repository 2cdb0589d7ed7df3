import { isIP } from 'node:net'
import { type HiddenKind, CAPTURED_CHARACTERS } from '@gateway/api/console/capture'
import { RE2JS } from 're2js'
import { redactedJson } from '@gateway/service-kit/text/redact'

/** Hides what identifies people or was named by a project, in text whose credentials are hidden already. */
export type HideText = (text: string) => string

/** Linear in the length of the text: every repetition is bounded, and RE2 does not backtrack. */
const kinds: Record<HiddenKind, HideText> = {
  email: (text) => text.replace(email, '[email]'),
  card: (text) => text.replace(digits, (found) => (isCardNumber(found) ? '[card]' : found)),
  iban: (text) => text.replace(iban, (found) => (isAccountNumber(found) ? '[iban]' : found)),
  phone: (text) => text.replace(phone, (found) => (isPhoneNumber(found) ? '[phone]' : found)),
  address: (text) => text.replace(address, (found) => (isIP(found) === 0 ? found : '[address]')),
}
/** Almost anything may be a phone number, so it is looked for last. */
const order: HiddenKind[] = ['email', 'iban', 'card', 'address', 'phone']

const email = /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu
const digits = /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d])/g
const iban = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{1,4}){3,8}\b/g
const phone = /(?<![\w.])(?:\+|\()?\d[\d ()/.-]{6,20}\d(?!\w)/g
const address = /(?<![\w:.])[\dA-Fa-f:.]{3,45}(?<!\.)(?![\w:])/g

/** @param patterns in RE2 syntax; each must be valid (`patternFault`) */
export function openHideText(hide: readonly HiddenKind[], patterns: readonly string[]): HideText {
  const named = order.filter((kind) => hide.includes(kind)).map((kind) => kinds[kind])
  const own = patterns.map((pattern) => RE2JS.compile(pattern))
  return (text) => {
    let shown = text
    for (const pattern of own) shown = pattern.matcher(shown).replaceAll('[hidden]')
    for (const hideKind of named) shown = hideKind(shown)
    return shown
  }
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '')
}

/** E.164, without the shortest ones, which could be anything. */
function isPhoneNumber(text: string): boolean {
  const { length } = digitsOf(text)
  return length >= 9 && length <= 15
}

/** Luhn. */
function isCardNumber(text: string): boolean {
  const sum = Array.from(digitsOf(text))
    .toReversed()
    .map((digit, n) => Number(digit) * (n % 2 === 0 ? 1 : 2))
    .reduce((total, value) => total + (value > 9 ? value - 9 : value), 0)
  return sum % 10 === 0
}

/** ISO 13616. */
function isAccountNumber(text: string): boolean {
  const plain = text.replaceAll(' ', '')
  if (plain.length < 15 || plain.length > 34) return false
  const numeric = (plain.slice(4) + plain.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))
  return BigInt(numeric) % 97n === 1n
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
