import { expect, test } from 'vitest'
import { createScreen } from './screen.ts'

function screenWithText(isTTY: boolean) {
  const written: string[] = []
  let ms = 0
  const screen = createScreen({ isTTY, write: (text: string) => written.push(text) }, () => (ms += 1_234))
  return { screen, text: () => written.join('') }
}

test('on a terminal a step is shown while it runs, then with its duration', async () => {
  const { screen, text } = screenWithText(true)
  await screen.step('postgres', async () => expect(text()).toBe('  postgres            …'))
  expect(text()).toBe('  postgres            …\r\u001B[K  postgres            1.2 s\n')
})

test('a line printed during a step keeps the step visible', async () => {
  const { screen, text } = screenWithText(true)
  await screen.step('redis', async () => screen.note('loading it'))
  expect(text()).toBe(
    '  redis               …\r\u001B[K    loading it\n  redis               …\r\u001B[K  redis               1.2 s\n',
  )
})

test('without a terminal each step is one plain line, also if it fails', async () => {
  const { screen, text } = screenWithText(false)
  await screen.step('redis', async () => {})
  await expect(screen.step('ledger', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(text()).toBe('  redis               1.2 s\n  ledger              failed\n')
})
