import { expect, test } from 'vitest'
import { invalidMessage, type CheckedControl } from './invalid-message.ts'

const control = (of: Partial<CheckedControl>): CheckedControl => ({
  validity: {},
  validationMessage: 'Please match the requested format.',
  title: '',
  type: 'text',
  ...of,
})

test('a valid control has no message', () => {
  expect(invalidMessage(control({ validity: { valid: true } }))).toBeNull()
})

test.for<[string, Partial<CheckedControl>]>([
  ['Required.', { validity: { valueMissing: true } }],
  ['Choose an option.', { validity: { valueMissing: true }, type: 'select-one' }],
  ['Enter a number.', { validity: { badInput: true } }],
  ['Enter a number from 1 to 365.', { validity: { rangeOverflow: true }, min: '1', max: '365' }],
  ['Enter 1 or more.', { validity: { rangeUnderflow: true }, min: '1' }],
  ['Enter 365 or less.', { validity: { rangeOverflow: true }, max: '365' }],
  ['Enter a whole number.', { validity: { stepMismatch: true } }],
  ['Enter at least 12 characters.', { validity: { tooShort: true }, minLength: 12 }],
  ['Enter an email address.', { validity: { typeMismatch: true }, type: 'email' }],
  ['Six digits.', { validity: { patternMismatch: true }, title: 'Six digits.' }],
  ['Please match the requested format.', { validity: { patternMismatch: true } }],
])('says "%s"', ([message, of]) => {
  expect(invalidMessage(control(of))).toBe(message)
})
