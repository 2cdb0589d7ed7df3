import { expect, test } from 'vitest'
import { openHideText } from './hide-text.ts'

const kinds = ['email', 'phone', 'card', 'iban', 'address'] as const
const hide = openHideText(kinds, [])

test.for<[string, string]>([
  ['write to ada.lovelace+news@mail.example.com, please', 'write to [email], please'],
  ['card 4111 1111 1111 1111 expires 12/27', 'card [card] expires 12/27'],
  ['IBAN DE89 3704 0044 0532 0130 00.', 'IBAN [iban].'],
  ['call +49 (0)30 901820-12 today', 'call [phone] today'],
  ['from 192.168.10.24 and 2001:db8::8a2e:370:7334.', 'from [address] and [address].'],
])('hides %s', ([text, shown]) => {
  expect(hide(text)).toBe(shown)
})

test.for([
  'On 2026-11-28 at 10:30:00 we sold 1,234 units for $99.95.',
  'order 1234567890123456 of version 1.2.3, page 12-14',
  'DE12 ABCD EFGH KLMN PQRS is not an account',
  'a@b, and 12.34.56',
])('leaves %s', (text) => {
  expect(hide(text)).toBe(text)
})

test('hides only the kinds that are named, and what patterns match', () => {
  const some = openHideText(['email'], ['CUST-[0-9]+', '(?i)project falcon'])
  expect(some('CUST-0042 of Project Falcon, ada@example.com, +49 30 90182012')).toBe(
    '[hidden] of [hidden], [email], +49 30 90182012',
  )
})

test('takes linear time for texts that make other engines backtrack', () => {
  const cruel = openHideText(kinds, ['(a+)+b', '(x|xx)*y'])
  const text = 'a'.repeat(30_000) + 'x'.repeat(30_000) + 'a1-'.repeat(10_000) + 'q'.repeat(10_000)
  expect(cruel(text)).toBe(text)
})
