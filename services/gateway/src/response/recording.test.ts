import { expect, test } from 'vitest'
import { openRecording } from './recording.ts'

test('a recording holds what was sent, in order', () => {
  const recording = openRecording(true)
  expect(recording.add('a') + recording.add('b')).toBe('ab')
  expect(recording.answer('text/event-stream')).toEqual({ contentType: 'text/event-stream', body: 'ab' })
})

test('a recording that would grow too large, or that nobody wants, holds nothing', () => {
  const recording = openRecording(true, 3)
  for (const events of ['ab', 'cd', 'e']) recording.add(events)
  expect(recording.answer('x')).toBe(null)
  const unwanted = openRecording(false)
  unwanted.add('a')
  expect(unwanted.answer('x')).toBe(null)
})
