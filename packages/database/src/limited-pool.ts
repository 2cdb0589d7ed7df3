import { constants } from 'node:os'
import { connect, Socket } from 'node:net'
import { Client, Pool, type ClientConfig, type PoolConfig } from 'pg'

// Connections whose answers have a time limit, because a connection can die without a word: its host vanished, or
// something between us forgot it. Without a limit a query would wait for the kernel, up to two hours.
//   C1  A query that is not answered in time is cancelled: a Postgres that is only slow answers that it has ended it
//       (57014), and nothing was written.
//   C2  A connection on which not even that answer comes is silent. Its socket is destroyed, so that nothing that comes
//       late is read as the answer to something else. The `query_timeout` of pg only ends the waiting; after it a
//       transaction would hand the same connection back to the pool, and the next query would wait behind the silent one.
//   C3  Whether a query on a silent connection was carried out is not known. Its error has no SQLSTATE, as that of a
//       connection that broke.
//   C4  Where one connection fell silent the idle ones probably did: they are closed too, so that the next queries don't
//       each wait for one of them. The pool opens new ones when they are needed.
//   C5  An error of a connection in use reaches anyone who waits for its answer, that of an idle one the pool. Between two
//       statements of a transaction no one would hear it, and an error that no one hears ends the process.

export interface LimitedPoolOptions extends PoolConfig {
  /** How long a query may take before it is cancelled. A connection that is silent is given up a second later. */
  queryLimitMs: number
  /** Called when a connection was silent. */
  onSilence: () => void
}

export interface LimitedPool {
  pool: Pool
  /** Closes the connections that no one uses now (C4). */
  renewIdle(): void
}

/** A pool of connections with a time limit for each query. */
export function openLimitedPool({ queryLimitMs, onSilence, ...config }: LimitedPoolOptions): LimitedPool {
  const idle = new Set<LimitedClient>()

  class PooledClient extends LimitedClient {
    constructor(clientConfig: ClientConfig) {
      super(clientConfig, queryLimitMs, () => {
        renewIdle()
        onSilence()
      })
    }
  }

  const pool = new Pool({ ...config, Client: PooledClient as unknown as typeof Client })
  pool.on('acquire', (client) => void idle.delete(client as unknown as LimitedClient))
  pool.on('release', (_error, client) => void idle.add(client as unknown as LimitedClient))
  pool.on('remove', (client) => void idle.delete(client as unknown as LimitedClient))

  function renewIdle(): void {
    for (const client of idle) client.abandon('it was idle when another connection fell silent')
    idle.clear()
  }

  return { pool, renewIdle }
}

/** How soon Postgres answers that it has cancelled. Where this process itself stood still, it reads meanwhile what had come. */
const CANCEL_MS = 1_000
const CANCEL_REQUEST = 80_877_102

class LimitedClient extends Client {
  readonly #socket: Socket
  readonly #limitMs: number
  readonly #onSilence: () => void

  constructor(config: ClientConfig, limitMs: number, onSilence: () => void) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
    this.#limitMs = limitMs
    this.#onSilence = onSilence
    this.on('error', () => {}) // C5
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- pg declares six forms of it, and all of them pass through
  override query(...parameters: any[]): any {
    const giveUp = () => {
      this.abandon(`it did not answer within ${this.#limitMs} ms`) // C2
      this.#onSilence()
    }
    let isCancelled = false
    let timer = setTimeout(() => {
      isCancelled = true
      this.#cancel() // C1
      timer = setTimeout(giveUp, CANCEL_MS)
    }, this.#limitMs)
    const answered = () => {
      clearTimeout(timer)
      // The request to cancel may still come, and would end the next query.
      if (isCancelled) setImmediate(() => this.abandon('its query was cancelled'))
    }
    const callback: unknown = parameters.at(-1)
    if (typeof callback === 'function') {
      parameters[parameters.length - 1] = (...answer: unknown[]) => {
        answered()
        callback(...answer)
      }
    }
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    const result = (super.query as (...all: any[]) => unknown).apply(this, parameters)
    if (typeof callback !== 'function') (result as Promise<unknown>).then(answered, answered)
    return result
  }

  /** Asks Postgres on another connection to end what it does on this one. */
  #cancel(): void {
    const { host, port, processID, secretKey } = this as unknown as Started
    if (processID === null || secretKey === null) return // a pooler that can't cancel
    const request = Buffer.alloc(16)
    for (const [n, part] of [request.length, CANCEL_REQUEST, processID, secretKey].entries())
      request.writeInt32BE(part, 4 * n)
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    socket.on('error', () => {})
    socket.setTimeout(CANCEL_MS, () => socket.destroy())
    socket.end(request)
  }

  /** C2 */
  abandon(why: string): void {
    this.#socket.destroy(timedOut(why))
  }
}

/** What a client that has connected knows, as pg calls it. */
interface Started {
  host: string
  port: number
  processID: number | null
  secretKey: number | null
}

/** As the kernel says it where it gives a connection up, which is what this anticipates (C3). */
function timedOut(why: string): Error {
  const error = new Error(`a connection to Postgres was given up: ${why}`)
  return Object.assign(error, { code: 'ETIMEDOUT', errno: -constants.errno.ETIMEDOUT, syscall: 'read' })
}
