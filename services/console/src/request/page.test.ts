import { describe, expect, test } from 'vitest'
import { pageOf, readNumberCursor, readTimeCursor, timeCursor } from './page.ts'

const idOf = ({ id }: { id: string }) => id
const items = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]

test('a page has at most the requested number of items, and a cursor only if there are more', () => {
  expect(pageOf(items, 2, idOf)).toEqual({ data: [{ id: 'a' }, { id: 'b' }], nextCursor: 'b' })
  expect(pageOf(items, 3, idOf)).toEqual({ data: items, nextCursor: null })
  expect(pageOf([], 3, idOf)).toEqual({ data: [], nextCursor: null })
})

describe('a cursor', () => {
  test('of a list by time or number can be read back', () => {
    const cursor = timeCursor({ createdAt: '2026-11-20T12:00:00.123Z', id: 'inv_1.x' })
    expect(readTimeCursor(cursor)).toEqual({ at: new Date('2026-11-20T12:00:00.123Z'), id: 'inv_1.x' })
    expect(readNumberCursor('120', 9)).toBe(120n)
  })

  test.for([
    ['an unknown format', () => readTimeCursor('x')],
    ['no ID', () => readTimeCursor('1.')],
    ['a value that is not a whole number', () => readNumberCursor('1e9', 9)],
    ['a number that is too long', () => readNumberCursor('1234567890', 9)],
  ] as const)('is rejected if it has %s [invalid_request]', ([, read]) => {
    expect(read).toThrow(
      expect.objectContaining({
        body: expect.objectContaining({
          code: 'invalid_request',
          param: 'cursor',
          message: expect.stringContaining('cursor was not returned by this list.'),
          resolution: 'Send the nextCursor of the previous page.',
        }),
      }),
    )
  })
})
