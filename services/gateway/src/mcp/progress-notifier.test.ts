import { expect, test } from 'vitest'
import type { Notification } from '@modelcontextprotocol/server'
import { openProgressNotifier } from './call-tool.ts'

const admitted = '{"kind":"admitted","seq":0,"executionId":"exe_1","revision":1,"at":"2026-11-20T00:00:00Z"}\n'
const node = (seq: number, id: string) => `{"kind":"node","seq":${seq},"node":{"id":"${id}","status":"Succeeded"}}\n`
const complete = '{"kind":"complete","seq":3,"execution":{"id":"exe_1"}}\n'

test('sends each line but the last as a notification, in order and in sequence', async () => {
  const sent: unknown[] = []
  const notifier = openProgressNotifier('p', async ({ params }: Notification) => {
    await Promise.resolve()
    sent.push([params!['progressToken'], params!['progress'], params!['message']])
  })
  await notifier.write(admitted + node(1, 'in'))
  notifier.end(node(2, 'out') + complete)
  expect(await notifier.ended()).toEqual({ id: 'exe_1' })
  expect(sent).toEqual([
    ['p', 0, 'The execution has begun.'],
    ['p', 1, 'in: Succeeded'],
    ['p', 2, 'out: Succeeded'],
  ])
})

test('returns the record even if the client has disconnected', async () => {
  const notifier = openProgressNotifier(1, () => Promise.reject(new Error('disconnected')))
  await notifier.write(admitted)
  notifier.end(complete)
  expect(await notifier.ended()).toEqual({ id: 'exe_1' })
})

test('returns null if the lines end before the execution does', async () => {
  const notifier = openProgressNotifier(1, () => Promise.resolve())
  await notifier.write(admitted)
  notifier.end('')
  expect(await notifier.ended()).toBeNull()
})
