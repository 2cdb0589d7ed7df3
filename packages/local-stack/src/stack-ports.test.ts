import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { readStackConfig } from './stack-config.ts'
import { choosePorts } from './stack-ports.ts'

const holders: ReturnType<typeof createServer>[] = []
afterEach(() => holders.splice(0).forEach((holder) => holder.close()))

async function takenPort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1')
  holders.push(holder)
  await once(holder, 'listening')
  return (holder.address() as AddressInfo).port
}

test('every program gets a port of its own', async () => {
  const ports = Object.values(await choosePorts(readStackConfig({ PORT: '0' })))
  expect(new Set(ports).size).toBe(5)
  expect(ports.every((port) => port > 0)).toBe(true)
})

test('every taken port that was asked for is told by its variable', async () => {
  const [gateway, ledger] = [await takenPort(), await takenPort()]
  const config = readStackConfig({ PORT: String(gateway), LEDGER_PORT: String(ledger) })
  await expect(choosePorts(config)).rejects.toMatchObject({
    name: 'ConfigurationError',
    problems: [
      expect.stringMatching(`^PORT: ${gateway} is taken`),
      expect.stringMatching(`^LEDGER_PORT: ${ledger} is taken`),
    ],
  })
})

test('a taken port that nobody asked for is passed over', async () => {
  const config = readStackConfig({ PORT: '0' })
  const gateway = (await choosePorts(config)).gateway
  const holder = createServer().listen(gateway + 1, '127.0.0.1')
  holders.push(holder)
  await Promise.race([once(holder, 'listening'), once(holder, 'error')])
  expect(Object.values(await choosePorts({ ...config, PORT: gateway }))).not.toContain(gateway + 1)
})
