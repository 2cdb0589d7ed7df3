import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from './stack-ports.ts'

const MANY = 40
const few = async (count: number) => {
  const ports: number[] = []
  for (let n = 0; n < count; n++) ports.push(await freePort(undefined, 'a test'))
  return ports
}

test('freePort returns a port outside the ephemeral range, so that it stays free across restarts', async () => {
  for (const port of await few(MANY)) expect(port).toBeLessThan(32_768)
})

test('freePort returns a different port for each call in every process', async () => {
  const program = `
    const { freePort } = await import('${new URL('./stack-ports.ts', import.meta.url).href}')
    const ports = []
    for (let n = 0; n < ${MANY}; n++) ports.push(await freePort(undefined, 'a test'))
    console.log(JSON.stringify(ports))
    process.stdin.resume()`
  /** The processes keep the ports until the test ends: an ended process releases its ports. */
  const inProcess = async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.stdin.end())
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    return JSON.parse(line) as number[]
  }
  const ports = (await Promise.all([few(MANY), inProcess(), inProcess(), inProcess()])).flat()
  expect(new Set(ports).size).toBe(4 * MANY)
})

test('freePort refuses a requested port that is in use, with a resolution', async () => {
  const [port] = (await few(1)) as [number]
  const server = createServer().listen(port, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  await expect(freePort(port, 'a test')).rejects.toThrow(
    `Port ${port} is taken, so a test can't use it. Stop what listens there, or choose another port.`,
  )
})
