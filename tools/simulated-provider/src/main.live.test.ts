import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished, expect, test } from 'vitest'
import { controlClient } from './control.ts'

const main = new URL('main.ts', import.meta.url).pathname

function start(environment: Record<string, string>): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [main], { env: { PATH: process.env['PATH'], ...environment } })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function addressOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return (JSON.parse(line) as { listening: string }).listening
}

test('the program prints its address, responds, and stops on SIGTERM during a call', async () => {
  const child = start({})
  const url = await addressOf(child)
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  const control = controlClient(url)
  await control.setFaults([{ hold: true }])
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
  const call = fetch(`${url}/v1/chat/completions`, { method: 'POST', body }).catch(() => 'ended')
  await control.waitForCalls(1)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(await call).toBe('ended')
})

test('the program ends with its parent if STOP_WITH_PARENT is set', async () => {
  const child = start({ STOP_WITH_PARENT: '1' })
  await addressOf(child)
  child.stdin.end()
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('an invalid port and a port in use are each reported in one message', async () => {
  for (const [port, says] of [
    ['many', 'PORT must be'],
    [new URL(await addressOf(start({}))).port, "can't listen"],
  ] as const) {
    const child = start({ PORT: port })
    const [message] = (await once(child.stderr, 'data')) as [Buffer]
    expect(message.toString()).toContain(says)
    expect((await once(child, 'exit'))[0]).toBe(1)
  }
})
