import { expect, test } from 'vitest'
import { kindOf, sizeOf } from './asset-labels.ts'

test.for([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_000, '1 kB'],
  [48_213, '48.2 kB'],
  [999_949, '999.9 kB'],
  [999_950, '1 MB'],
  [24_999_999, '25 MB'],
  [5_368_709_120, '5.4 GB'],
] as const)('formats %i bytes as %s', ([bytes, text]) => {
  expect(sizeOf(bytes)).toBe(text)
})

test('shows a user-facing label for each MIME type, and an unknown type unchanged', () => {
  expect(['audio/mpeg', 'image/avif'].map((mimeType) => kindOf({ mimeType }))).toEqual(['MP3 audio', 'image/avif'])
})
