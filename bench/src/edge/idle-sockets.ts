import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { KEY_SECRET_PREFIX, makeSecret } from '@gateway/api/ids'
import type { BenchDeps } from '../bench.ts'
import { percentile } from '../load/figures.ts'
import type { Target } from '../report/targets.ts'
import type { Edge } from './edge.ts'
import { keptMiB } from './kept-memory.ts'

const SOCKETS = 5_000
/** Addresses of the flood, so that the bound per address is not what holds it. */
const ADDRESSES = 50
const CLOSED_MS = 90_000
const WITHIN_MS = 1_000
const EVERY_MS = 500

/** Sockets of forged keys that stay idle in their body, every other one never reading. */
export async function floodOfSockets({ stack, fixture, tenant, chat }: Edge, { log }: Pick<BenchDeps, 'log'>) {
  const gateway = stack.gateways[0]!
  const tookMs: number[] = []

  /** Opens the sockets, and calls with new keys until the gateway has closed them all. Returns how long that took. */
  async function flood(): Promise<number> {
    const sockets: Socket[] = []
    for (let n = 0; n < SOCKETS; n++) sockets.push(await forgedSocket(gateway.url, n))
    const startMs = performance.now()
    for (;;) {
      const { secret } = await fixture.key({ project: tenant.project, by: tenant.owner })
      const askedMs = performance.now()
      const status = await chat(secret)
      if (status !== 200) throw new Error(`A new key got ${status} during the flood.`)
      tookMs.push(performance.now() - askedMs)
      const [open, lastedMs] = [await openToStrangers(gateway.url), performance.now() - startMs]
      if (open > 0 && lastedMs < CLOSED_MS + 10_000) {
        await wait(EVERY_MS)
        continue
      }
      for (const socket of sockets) socket.destroy()
      return open > 0 ? Infinity : lastedMs
    }
  }

  log(`A first flood of ${SOCKETS} idle sockets of forged keys, after which the memory is the basis`)
  await flood()
  const before = await keptMiB(gateway.pid)
  log('A second one')
  const closedMs = await flood()
  const after = await keptMiB(gateway.pid)
  const slowest = percentile(Float64Array.from(tookMs).toSorted(), 100)
  const [inMs, inS] = [(value: number) => `${value.toFixed(0)} ms`, (value: number) => `${value.toFixed(1)} s`]
  return {
    said: `${SOCKETS} sockets of forged keys, idle in their body, every other one never reading: ${tookMs.length} calls with keys never seen before, the slowest after ${inMs(slowest)}; all sockets closed after ${inS(closedMs / 1000)}; the gateway had ${before.toFixed(0)} MiB before and ${after.toFixed(0)} MiB after.`,
    targets: [
      {
        what: 'slowest call of a new key during the flood',
        wanted: WITHIN_MS,
        found: slowest,
        better: 'less',
        say: inMs,
      },
      {
        what: 'until all sockets are closed',
        wanted: CLOSED_MS / 1000,
        found: closedMs / 1000,
        better: 'less',
        say: inS,
      },
      {
        what: 'memory after to before',
        wanted: 1.1,
        found: after / before,
        better: 'less',
        say: (value: number) => `${value.toFixed(2)}×`,
      },
    ] satisfies Target[],
  }
}

const STRANGERS = '127.0.1.'

/** Connections of the flood that the gateway still has: a client that never reads doesn't learn that it was closed. */
async function openToStrangers(url: string): Promise<number> {
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(2, '0')
  const prefix = STRANGERS.split('.').slice(0, 3).map(Number).toReversed().map(hex).join('')
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  const established = new RegExp(`^\\s*\\d+: [0-9A-F]{8}:${port} [0-9A-F]{2}${prefix}:[0-9A-F]{4} 01 `, 'gm')
  return (await readFile('/proc/net/tcp', 'latin1')).match(established)?.length ?? 0
}

async function forgedSocket(url: string, n: number): Promise<Socket> {
  const { hostname: host, port } = new URL(url)
  const localAddress = `${STRANGERS}${1 + (n % ADDRESSES)}`
  const socket = connect({ host, port: Number(port), localAddress }).on('error', () => {})
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('error', () => resolve()))
  const secret = makeSecret(KEY_SECRET_PREFIX, randomBytes(32))
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${secret}\r\nContent-Length: 1000\r\n\r\n{"model":`,
  )
  return n % 2 === 0 ? socket.resume() : socket.pause()
}
