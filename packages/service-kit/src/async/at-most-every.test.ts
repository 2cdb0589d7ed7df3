import { expect, test } from 'vitest'
import { atMostEvery } from './waiting.ts'

test('atMostEvery drops what comes before its period has passed', () => {
  let nowMs = 0
  const seen: string[] = []
  const write = atMostEvery(
    100,
    (text: string) => void seen.push(text),
    () => nowMs,
  )
  for (const [atMs, text] of [
    [0, 'first'],
    [99, 'early'],
    [100, 'second'],
    [150, 'early'],
  ] as const) {
    nowMs = atMs
    write(text)
  }
  expect(seen).toEqual(['first', 'second'])
})
