import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { KEY_SECRET_PREFIX, makeSecret } from '@gateway/api/ids'
import { yieldToOtherThreads } from '@gateway/service-kit/async/worker-thread'
import { openLoop } from '../soak/open-loop.ts'

// The attack runs in a separate thread: in the thread of the measurement it would delay its clock. Attackers bring their
// machines, so it only writes bytes, and yields the processor to what is measured.

/** One request of an attack. */
export interface AttackRequest {
  path: string
  /** Null sends a newly forged key each time. */
  secret: string | null
  /** Where it seems to come from, for a server that trusts this machine as a proxy. */
  address?: string
  /** JSON. */
  body: string
}

/** How an attack proceeds. Its requests are sent in turn. */
export type Attack = { url: string } & (
  | { kind: 'rate'; requests: AttackRequest[]; perSecond: number; lastsMs: number }
  /** Each client sends one request after the other. After a response it waits for once to twice the pause. */
  | { kind: 'clients'; requests: AttackRequest[]; clients: number; pauseMs: number }
  /** Each socket sends the head of a request, and then neither sends nor reads. */
  | { kind: 'idle'; head: string; sockets: number }
)

/** Responses by status. 0: open, or the connection failed. */
export type Statuses = ReadonlyMap<number, number>

/** Starts the attack. Returns what ends it and counts its responses. */
export async function startAttack(attack: Attack): Promise<{ stop(): Promise<Statuses> }> {
  const thread = new Worker(new URL(import.meta.url), { workerData: attack })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {}) // reported by what waits for the thread
  thread.once('error', failed.reject)
  const message = () =>
    Promise.race([failed.promise, new Promise<unknown>((resolve) => thread.once('message', resolve))])
  await message()
  return {
    async stop() {
      const counted = message()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no such target
      thread.postMessage('stop')
      const statuses = (await counted) as Statuses
      await thread.terminate()
      return statuses
    },
  }
}

export function formatStatuses(statuses: Statuses): string {
  return [...statuses].map(([status, count]) => `${count} × ${status === 0 ? 'open' : status}`).join(', ')
}

/** Runs in the thread. Returns what counts the responses so far. */
function begin(attack: Attack): () => Statuses {
  const ended = new Map<number, number>()
  const { hostname, port } = new URL(attack.url)
  const count = (status: number) => ended.set(status, (ended.get(status) ?? 0) + 1)

  /** Sends a request on a connection for it alone. Resolves with the status once the server has closed it. */
  function send({ path, secret, address, body }: AttackRequest): Promise<number> {
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: ${hostname}`,
      `Authorization: Bearer ${secret ?? makeSecret(KEY_SECRET_PREFIX, randomBytes(32))}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(address === undefined ? [] : [`X-Forwarded-For: ${address}`]),
      'Connection: close',
    ]
    const socket = connect({ host: hostname, port: Number(port) })
    let status = 0
    socket.once('data', (part) => (status = statusOf(part)))
    socket.on('error', () => {})
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    return new Promise((resolve) => socket.once('close', () => resolve(status)))
  }

  async function oneAfterTheOther(requests: AttackRequest[], first: number, pauseMs: number): Promise<void> {
    for (let n = first; ; n++) {
      count(await send(requests[n % requests.length]!))
      await wait(pauseMs * (1 + Math.random()))
    }
  }

  switch (attack.kind) {
    case 'rate': {
      const { requests, perSecond, lastsMs } = attack
      const call = async (n: number) => {
        const status = await send(requests[n % requests.length]!)
        count(status)
        return { status, retryAfter: true }
      }
      void openLoop({ perSecond, lastsMs, call, now: () => performance.now() })
      return () => ended
    }
    case 'clients':
      for (let n = 0; n < attack.clients; n++) void oneAfterTheOther(attack.requests, n, attack.pauseMs)
      return () => ended
    case 'idle': {
      const sockets = Array.from({ length: attack.sockets }, () => idleSocket(attack))
      return () => {
        for (const socket of sockets) {
          count(statusOf(socket.read() as Buffer | null))
        }
        return ended
      }
    }
  }
}

/** 0 for no response. */
const statusOf = (head: Buffer | null) => Number(/^HTTP\/1\.1 (\d{3})/.exec(head?.toString('latin1') ?? '')?.[1] ?? 0)

function idleSocket({ url, head }: { url: string; head: string }): Socket {
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port) }).on('error', () => {})
  socket.pause()
  socket.write(head, 'latin1')
  return socket
}

if (parentPort !== null && workerData !== null) {
  const port = parentPort
  yieldToOtherThreads(10)
  const statuses = begin(workerData as Attack)
  port.once('message', () => port.postMessage(statuses()))
  port.postMessage('begun')
}
