import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openSecretBox } from './secret-box.ts'

const random = (bytes: number) => randomBytes(bytes)
const box = openSecretBox({ key: 'k'.repeat(32), previousKey: undefined, random })
const secret = new Uint8Array(randomBytes(20))

test('opens what it sealed, for the same owner', () => {
  const sealed = box.seal(secret, 'usr_1')
  expect(box.open(sealed, 'usr_1')).toEqual(secret)
  expect(Buffer.from(sealed).includes(Buffer.from(secret))).toBe(false)
  expect(box.seal(secret, 'usr_1')).not.toEqual(sealed)
})

test('opens with the previous key until it is dropped', () => {
  const sealed = box.seal(secret, 'usr_1')
  const rotated = openSecretBox({ key: 'n'.repeat(32), previousKey: 'k'.repeat(32), random })
  expect(rotated.open(sealed, 'usr_1')).toEqual(secret)
  const dropped = openSecretBox({ key: 'n'.repeat(32), previousKey: undefined, random })
  expect(() => dropped.open(sealed, 'usr_1')).toThrow('another SECOND_FACTOR_KEY')
})

test('opens nothing for another owner, and nothing that was changed', () => {
  const sealed = box.seal(secret, 'usr_1')
  expect(() => box.open(sealed, 'usr_2')).toThrow('another SECOND_FACTOR_KEY')
  for (let at = 0; at < sealed.length; at++) {
    const changed = new Uint8Array(sealed)
    changed[at]! ^= 1
    expect(() => box.open(changed, 'usr_1')).toThrow('another SECOND_FACTOR_KEY')
  }
})
