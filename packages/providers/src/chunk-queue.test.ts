import { expect, test } from 'vitest'
import { maxWaitingChunks } from './chat-port.ts'
import { openChunkQueue } from './chunk-queue.ts'

function open() {
  const heard: string[] = []
  const queue = openChunkQueue<number>({
    full: () => heard.push('full'),
    drained: () => heard.push('drained'),
    left: () => heard.push('left'),
  })
  return { heard, ...queue }
}

test('the reader gets what was pushed, in order, then the end', async () => {
  const { push, end, items } = open()
  push(1)
  push(2)
  const later = items
    .next()
    .then(() => items.next())
    .then(() => items.next())
  push(3)
  end()
  expect(await later).toEqual({ value: 3, done: false })
  expect(await items.next()).toEqual({ value: undefined, done: true })
})

test('a failure comes after what was pushed, and once', async () => {
  const { push, fail, items } = open()
  push(1)
  fail(new Error('cut'))
  expect(await items.next()).toEqual({ value: 1, done: false })
  await expect(items.next()).rejects.toThrow('cut')
  expect((await items.next()).done).toBe(true)
})

test('a reader that waits hears of the failure at once', async () => {
  const { fail, items } = open()
  const waiting = items.next()
  fail(new Error('cut'))
  await expect(waiting).rejects.toThrow('cut')
})

test('signals the sender when too much waits, and when half of it is read', async () => {
  const { push, items, heard } = open()
  for (let i = 0; i <= maxWaitingChunks; i++) push(i)
  expect(heard).toEqual(['full'])
  for (let i = 0; i <= maxWaitingChunks / 2; i++) await items.next()
  expect(heard).toEqual(['full', 'drained'])
})

test('a reader that leaves early is heard of once, one that leaves after the end is not', async () => {
  const early = open()
  early.push(1)
  await early.items.return?.()
  await early.items.return?.()
  expect(early.heard).toEqual(['left'])
  expect((await early.items.next()).done).toBe(true)

  const late = open()
  late.end()
  await late.items.return?.()
  expect(late.heard).toEqual([])
})
