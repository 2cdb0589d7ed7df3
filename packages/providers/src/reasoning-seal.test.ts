import { expect, test } from 'vitest'
import { reasoningSeal } from './openai-responses/reasoning-item.ts'

const baseUrl = 'https://api.example.com/v1'
const seal = reasoningSeal({ apiKey: 'sk-1', baseUrl })

test('a sealed signature reveals nothing and opens for its provider on every replica', () => {
  const sealed = seal.seal('signature of the provider é', 'what was thought')
  expect(sealed).toMatch(/^[\w-]+$/)
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('signature')
  expect(reasoningSeal({ apiKey: 'sk-1', baseUrl }).open(sealed, 'what was thought')).toBe(
    'signature of the provider é',
  )
})

test('a sealed signature does not open with another text, if changed, or for another provider', () => {
  const sealed = seal.seal('signature', 'what was thought')
  const bytes = Buffer.from(sealed, 'base64url')
  bytes[14]! ^= 1
  expect(seal.open(sealed, 'what was not thought')).toBeNull()
  expect(seal.open(bytes.toString('base64url'), 'what was thought')).toBeNull()
  expect(seal.open('', 'what was thought')).toBeNull()
  expect(seal.open('a.signature/that=is not sealed', 'what was thought')).toBeNull()
  expect(reasoningSeal({ apiKey: 'sk-2', baseUrl }).open(sealed, 'what was thought')).toBeNull()
  expect(reasoningSeal({ baseUrl }).open(sealed, 'what was thought')).toBeNull()
})
