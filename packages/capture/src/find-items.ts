import { isIP } from 'node:net'
import type { HiddenKind } from '@gateway/api/console/capture'

// Where a text contains what identifies people.
//   I1  Anything may stand next to an item: more digits, words, another item. So every sequence of groups that is not too
//       long is checked, not only the longest one.
//   I2  A sequence may be valid by chance and contain only part of an item. So the items are all sequences that are
//       valid, and those that overlap are one item.
//   I3  Linear in the length of the text: groups and sequences are bounded.

/** A part of a text: the positions of its first character and behind its last one. */
export interface Item {
  kind: HiddenKind
  start: number
  end: number
}

/** Returns the items of these kinds, in order. They do not overlap. */
export function findItems(text: string, kinds: readonly HiddenKind[]): Item[] {
  const items = order
    .filter((kind) => kinds.includes(kind))
    .flatMap((kind) => forms[kind].flatMap((form) => sequencesIn(text, form).map((part) => ({ kind, ...part }))))
  return joinOverlapping(items)
}

/** What the kinds look like. A group is never valid in part; a sequence consists of groups with a gap between two. */
export interface Form {
  group: RegExp
  gap: RegExp
  /** Characters of a sequence. */
  longest: number
  isValid(sequence: string): boolean
}

const single = { gap: /^(?!)/, longest: Infinity, isValid: () => true }

/** Of two addresses, the second may begin with what could be the end of the first: they are one item (I2). */
const email =
  /[\p{L}\p{N}._%+'-]{1,64}(?:@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}(?:[\p{L}\p{N}._%+'-]{1,64}(?=@))?)+/gu

const forms: Record<HiddenKind, Form[]> = {
  email: [{ ...single, group: email }],
  iban: [{ group: /(?<![A-Z\d])[A-Z\d]{1,34}(?![A-Z\d])/gi, gap: /^ ?$/, longest: 44, isValid: isAccountNumber }],
  card: [{ group: /(?<!\d|\d\.)\d{1,19}(?!\d)/g, gap: /^[ -]$/, longest: 37, isValid: isCardNumber }],
  address: [
    { ...single, group: /(?<!\w|\d\.)(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)/g, isValid: (text) => isIP(text) === 4 },
    {
      group: /(?<!\w)[\dA-F]{1,4}(?!\w)|(?<![\w:])::(?!:)|(?<!:)::(?!\w)/gi,
      gap: /^(?:::?|\.)?$/,
      longest: 45,
      isValid: (text) => text !== '::' && isIP(text) === 6,
    },
  ],
  phone: [{ group: /(?<!\w)[+(]?\d{1,15}(?!\w)/g, gap: /^[ ()/.-]+$/, longest: 23, isValid: isPhoneNumber }],
}

/** Items that overlap have the first of their kinds. Almost anything may be a phone number, so it is the last one. */
const order: readonly HiddenKind[] = ['email', 'iban', 'card', 'address', 'phone']

type Sequence = Pick<Item, 'start' | 'end'>

/** Returns the longest valid sequence for each end (I1). Those that start later are a part of it. */
export function sequencesIn(text: string, { group, gap, longest, isValid }: Form): Sequence[] {
  const found: Sequence[] = []
  let starts: number[] = []
  let lastEnd = 0
  for (const { 0: characters, index } of text.matchAll(group)) {
    const end = index + characters.length
    const isNear = index - lastEnd < longest && gap.test(text.slice(lastEnd, index))
    starts = isNear ? starts.filter((start) => end - start <= longest) : []
    starts.push(index)
    lastEnd = end
    const first = starts.find((start) => isValid(text.slice(start, end)))
    if (first !== undefined) found.push({ start: first, end })
  }
  return found
}

/** I2 */
function joinOverlapping(items: Item[]): Item[] {
  const joined: Item[] = []
  for (const item of items.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last === undefined || item.start >= last.end) {
      joined.push({ ...item })
      continue
    }
    last.end = Math.max(last.end, item.end)
    if (order.indexOf(item.kind) < order.indexOf(last.kind)) last.kind = item.kind
  }
  return joined
}

/** E.164, without the shortest ones, which could be anything. */
function isPhoneNumber(text: string): boolean {
  const { length } = digitsFromEnd(text)
  return length >= 9 && length <= 15
}

/** Luhn. */
function isCardNumber(text: string): boolean {
  const digits = digitsFromEnd(text)
  if (digits.length < 13 || digits.length > 19) return false
  let sum = 0
  for (const [n, digit] of digits.entries()) {
    const value = n % 2 === 0 ? digit : digit * 2
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}

function digitsFromEnd(text: string): number[] {
  const digits: number[] = []
  for (let at = text.length - 1; at >= 0; at--) {
    const digit = text.charCodeAt(at) - 48
    if (digit >= 0 && digit <= 9) digits.push(digit)
  }
  return digits
}

/** ISO 13616. */
function isAccountNumber(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}/i.test(text)) return false
  const plain = text.replaceAll(' ', '')
  if (plain.length < 15 || plain.length > 34) return false
  let remainder = 0
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}
