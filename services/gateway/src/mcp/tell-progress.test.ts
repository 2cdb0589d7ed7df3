import { expect, test } from 'vitest'
import type { Notification } from '@modelcontextprotocol/server'
import { progressTeller } from './tell-progress.ts'

const admitted = '{"kind":"admitted","seq":0,"executionId":"exe_1","revision":1,"at":"2026-11-20T00:00:00Z"}\n'
const node = (seq: number, id: string) => `{"kind":"node","seq":${seq},"node":{"id":"${id}","status":"Succeeded"}}\n`
const complete = '{"kind":"complete","seq":3,"execution":{"id":"exe_1"}}\n'

test('each line but the last is told, in order, one after the other', async () => {
  const told: unknown[] = []
  const teller = progressTeller('p', async ({ params }: Notification) => {
    await Promise.resolve()
    told.push([params!['progressToken'], params!['progress'], params!['message']])
  })
  await teller.write(admitted + node(1, 'in'))
  teller.end(node(2, 'out') + complete)
  expect(await teller.ended()).toEqual({ id: 'exe_1' })
  expect(told).toEqual([
    ['p', 0, 'The run has begun.'],
    ['p', 1, 'in: Succeeded'],
    ['p', 2, 'out: Succeeded'],
  ])
})

test('a client that has gone is not told, and the record is there all the same', async () => {
  const teller = progressTeller(1, () => Promise.reject(new Error('gone')))
  await teller.write(admitted)
  teller.end(complete)
  expect(await teller.ended()).toEqual({ id: 'exe_1' })
})

test('lines that end before the run are no record', async () => {
  const teller = progressTeller(1, () => Promise.resolve())
  await teller.write(admitted)
  teller.end('')
  expect(await teller.ended()).toBeNull()
})
