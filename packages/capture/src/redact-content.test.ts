import { CAPTURED_CHARACTERS } from '@gateway/api/console/capture'
import { expect, test } from 'vitest'
import { openHideText, redactContent } from './hide-text.ts'

const hide = openHideText(['email'], [])
const secret = `svc_${'s'.repeat(40)}`

test('hides credentials and what the project hides, at any depth, and keeps the rest (C1)', () => {
  const value = {
    messages: [
      { role: 'system', content: `The key is ${secret}` },
      { role: 'user', content: [{ type: 'text', text: 'I am ada@example.com' }] },
    ],
    tools: [{ function: { name: 'send', arguments: '{"password":"hunter2hunter2"}' } }],
    temperature: 0.5,
  }
  const { shown, isCut } = redactContent(value, hide)
  expect(isCut).toBe(false)
  expect(shown).toEqual({
    messages: [
      { role: 'system', content: 'The key is svc_ssssssss…' },
      { role: 'user', content: [{ type: 'text', text: 'I am [email]' }] },
    ],
    tools: [{ function: { name: 'send', arguments: '{"password":"[redacted]"}' } }],
    temperature: 0.5,
  })
})

test('leaves images and files out (C2)', () => {
  const { shown } = redactContent([{ url: 'data:image/png;base64,iVBORw0KGgo=' }, { url: 'ast_1' }], hide)
  expect(shown).toEqual([{ url: 'data:image/png;base64,(left out)' }, { url: 'ast_1' }])
})

test.for([-30, -12, -3, 0, 5])(
  'cuts after %i characters from the limit without leaving a part of what is hidden (C3)',
  (offset) => {
    const text = `${'x '.repeat(CAPTURED_CHARACTERS / 2 + offset)}ada.lovelace@mail.example.com ${'y'.repeat(40_000)}`
    const { shown, isCut } = redactContent([text, 'more'], hide)
    expect(isCut).toBe(true)
    const all = JSON.stringify(shown)
    expect(all.length).toBeLessThan(CAPTURED_CHARACTERS + 20)
    expect(/ada|lovelace|more/.exec(all)).toBeNull()
  },
)

test('leaves no part of a secret that begins before the end of what is looked at (C3)', () => {
  const seen = CAPTURED_CHARACTERS + 16_384
  const filler = Array.from({ length: 4_000 }, (_, n) => `user${n}@mail.example.com `).join('')
  const text = `${filler}${' '.repeat(Math.max(0, seen - filler.length - 8))}bob.smith@example.com${'z'.repeat(100)}`
  expect(JSON.stringify(redactContent(text, hide).shown).includes('bob')).toBe(false)
})
