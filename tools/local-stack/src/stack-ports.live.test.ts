import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { afterEach, expect, onTestFinished, test } from 'vitest'
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

test('ports that another process has chosen are taken before it listens on them', async () => {
  const script = `
    const { choosePorts, chooseMetricsPorts } = await import('${new URL('./stack-ports.ts', import.meta.url).href}')
    const { readStackConfig } = await import('${new URL('./stack-config.ts', import.meta.url).href}')
    const ports = await choosePorts(readStackConfig({ PORT: '0' }))
    console.log(JSON.stringify([ports, await chooseMetricsPorts(ports)].flatMap(Object.values)))
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.stdin.end())
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const theirs = JSON.parse(line) as number[]
  const [gateway] = theirs as [number]

  await expect(choosePorts(readStackConfig({ PORT: String(gateway) }))).rejects.toThrow(`PORT: ${gateway} is taken`)
  const below = gateway - 1
  const ours = await chooseMetricsPorts({
    gateway: below,
    console: below,
    ledger: below,
    worker: below,
    provider: below,
  })
  expect(Object.values(ours).filter((port) => theirs.includes(port))).toEqual([])
})
