import { describe, expect, test } from 'vitest'
import { pageOf, readNumberCursor, readTimeCursor, timeCursor } from './page.ts'

const idOf = ({ id }: { id: string }) => id
const items = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]

test('a page has at most as many items as were asked for, and a cursor only where there are more', () => {
  expect(pageOf(items, 2, idOf)).toEqual({ data: [{ id: 'a' }, { id: 'b' }], nextCursor: 'b' })
  expect(pageOf(items, 3, idOf)).toEqual({ data: items, nextCursor: null })
  expect(pageOf([], 3, idOf)).toEqual({ data: [], nextCursor: null })
})

describe('a cursor', () => {
  test('of a list by time is read as it was written', () => {
    const cursor = timeCursor({ createdAt: '2026-11-20T12:00:00.123Z', id: 'inv_1.x' })
    expect(readTimeCursor(cursor)).toEqual({ at: new Date('2026-11-20T12:00:00.123Z'), id: 'inv_1.x' })
    expect(readNumberCursor('120', 9)).toBe(120n)
  })

  test.for([
    ['no text of ours', () => readTimeCursor('x')],
    ['no id', () => readTimeCursor('1.')],
    ['no number', () => readNumberCursor('1e9', 9)],
    ['a longer number than there can be', () => readNumberCursor('1234567890', 9)],
  ] as const)('with %s is refused [invalid_request]', ([, read]) => {
    expect(read).toThrow(
      expect.objectContaining({
        body: expect.objectContaining({
          code: 'invalid_request',
          param: 'cursor',
          message: expect.stringContaining('cursor: is not one that this list gave.'),
          resolution: 'Send the nextCursor of the page before.',
        }),
      }),
    )
  })
})
