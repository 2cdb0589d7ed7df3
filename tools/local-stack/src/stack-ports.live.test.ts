import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { readStackConfig } from './stack-config.ts'
import { chooseMetricsPorts, choosePorts } from './stack-ports.ts'

const holders: ReturnType<typeof createServer>[] = []
afterEach(() => holders.splice(0).forEach((holder) => holder.close()))

async function takenPort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1')
  holders.push(holder)
  await once(holder, 'listening')
  return (holder.address() as AddressInfo).port
}

test('choosePorts gives every program a different port', async () => {
  const ports = Object.values(await choosePorts(readStackConfig({ PORT: '0' })))
  expect(new Set(ports).size).toBe(5)
  // The kernel gives higher ones to outgoing connections, which could take them before the programs start.
  expect(ports.filter((port) => port < 1_024 || port > 32_767)).toEqual([])
})

test('chooseMetricsPorts chooses ports that no program has', async () => {
  const ports = await choosePorts(readStackConfig({ PORT: '0' }))
  const measured = await chooseMetricsPorts(ports)
  expect(Object.keys(measured).toSorted()).toEqual(['console', 'gateway', 'ledger', 'worker'])
  expect(new Set([...Object.values(ports), ...Object.values(measured)]).size).toBe(9)
})

test('choosePorts reports every requested port in use by its variable', async () => {
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

// The gateway's port is tried on an address where nothing else listens, so that no other test can take it meanwhile.
const quietHost = process.platform === 'linux' ? '127.83.17.5' : '::1'

test('choosePorts skips a port in use that was not requested', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  holders.push(holder)
  await once(holder, 'listening')
  const { port: taken } = holder.address() as AddressInfo
  const config = readStackConfig({ PORT: String(taken - 1), HOST: quietHost })
  expect(Object.values(await choosePorts(config))).not.toContain(taken)
})
