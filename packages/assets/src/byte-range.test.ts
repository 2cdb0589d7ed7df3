import { describe, expect, test } from 'vitest'
import { byteRange } from './send-asset.ts'

const part = (first: number, last: number) => ({ kind: 'part', first, last })
const BYTES = 1_000

describe('a Range header', () => {
  test.each([
    ['bytes=0-0', part(0, 0)],
    ['bytes=0-499', part(0, 499)],
    ['bytes=500-', part(500, 999)],
    ['bytes=999-', part(999, 999)],
    ['bytes=0-999', part(0, 999)],
    ['bytes=0-1000', part(0, 999)],
    ['bytes=10-99999999999999999999999999', part(10, 999)],
    ['bytes=-1', part(999, 999)],
    ['bytes=-1000', part(0, 999)],
    ['bytes=-5000', part(0, 999)],
    ['Bytes= 3-4 ', part(3, 4)],
  ])('%s selects a part', (header, range) => expect(byteRange(header, BYTES)).toEqual(range))

  test.each(['bytes=1000-', 'bytes=1000-2000', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%s is unsatisfiable',
    (header) => expect(byteRange(header, BYTES)).toEqual({ kind: 'unsatisfiable' }),
  )

  test.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=5-4',
    'bytes=0-1,5-6',
    'bytes=a-b',
    'items=0-1',
    'bytes=1-2-3',
  ])('%s selects the whole', (header) => expect(byteRange(header, BYTES)).toEqual({ kind: 'whole' }))
})
