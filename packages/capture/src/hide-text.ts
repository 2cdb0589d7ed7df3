import { isIP } from 'node:net'
import type { HiddenKind } from '@gateway/api/console/capture'
import { RE2JS } from 're2js'

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
