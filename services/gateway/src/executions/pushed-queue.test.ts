import { pushedText } from '@gateway/ledger-protocol/flow-reads'
import { expect, test } from 'vitest'
import { openPushedQueue } from './start-execution.ts'

const text = (after: number, seq: number, lines = `${seq}\n`, done = false) => pushedText({ after, seq, done, lines })

test('lines that continue the last one are taken together', () => {
  const queue = openPushedQueue()
  expect(queue.take(0)).toBe(null)
  queue.add(text(1, 2))
  queue.add(text(2, 4, '3\n4\n', true))
  expect(queue.take(1)).toEqual({ after: 1, seq: 4, done: true, lines: '2\n3\n4\n' })
  expect(queue.take(4)).toBe(null)
})

test('lines behind a gap wait until what is missing was read', () => {
  const queue = openPushedQueue()
  queue.add(text(3, 4))
  expect(queue.take(1)).toBe(null)
  expect(queue.take(3)).toMatchObject({ seq: 4, lines: '4\n' })
})

test('lines that the reader has, in whole or in part, are not repeated', () => {
  const queue = openPushedQueue()
  queue.add(text(1, 2))
  queue.add(text(2, 4, '3\n4\n'))
  expect(queue.take(3)).toBe(null)
  queue.add(text(4, 5))
  expect(queue.take(4)).toMatchObject({ seq: 5, lines: '5\n' })
})

test('lines that are too large to be sent are read', () => {
  const queue = openPushedQueue()
  queue.add(text(1, 2, `${'x'.repeat(70_000)}\n`))
  expect(queue.take(1)).toBe(null)
})

test('a text of another form and more than a reader can hold are dropped', () => {
  const queue = openPushedQueue()
  queue.add('something else')
  for (let seq = 1; seq <= 40; seq++) queue.add(text(seq - 1, seq, 'x'.repeat(60_000)))
  expect(queue.take(0)).toBe(null)
})
