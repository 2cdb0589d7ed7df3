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

test('delivers pushed items in order, then ends', async () => {
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

test('delivers a failure once, after the pushed items', async () => {
  const { push, fail, items } = open()
  push(1)
  fail(new Error('cut'))
  expect(await items.next()).toEqual({ value: 1, done: false })
  await expect(items.next()).rejects.toThrow('cut')
  expect((await items.next()).done).toBe(true)
})

test('rejects a waiting reader at once on failure', async () => {
  const { fail, items } = open()
  const waiting = items.next()
  fail(new Error('cut'))
  await expect(waiting).rejects.toThrow('cut')
})

test('signals full above the bound, and drained once half is read', async () => {
  const { push, items, heard } = open()
  for (let i = 0; i <= maxWaitingChunks; i++) push(i)
  expect(heard).toEqual(['full'])
  for (let i = 0; i <= maxWaitingChunks / 2; i++) await items.next()
  expect(heard).toEqual(['full', 'drained'])
})

test('signals a reader that leaves early once, and not one that leaves after the end', async () => {
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
