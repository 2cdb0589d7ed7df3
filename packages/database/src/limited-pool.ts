import { constants } from 'node:os'
import { connect, Socket } from 'node:net'
import { Client, Pool, type ClientConfig, type PoolClient, type PoolConfig } from 'pg'

// Connections with a time limit on each query, because a connection can die silently: its host vanished, or a device in
// between forgot it. Without a limit a query would wait for the kernel, up to two hours.
//   C1  A query without a response in time is cancelled: a Postgres that is merely slow responds that it cancelled the
//       query (57014), and nothing was written.
//   C2  A connection without even that response is silent. Its socket is destroyed, so that nothing that arrives late
//       is read as the response to another query. The `query_timeout` of pg only ends the wait; afterwards a
//       transaction would return the same connection to the pool, and the next query would wait behind the silent one.
//   C3  Whether a query on a silent connection was executed is unknown. Its error has no SQLSTATE, like that of a
//       broken connection.
//   C4  If one connection fell silent, the idle ones probably did too: they are closed as well, so that the next
//       queries don't each wait for one of them. The pool opens new ones on demand.
//   C5  An error of a connection in use reaches the query that waits on it, an error of an idle one reaches the pool.
//       Between two statements of a transaction nothing listens, and an unhandled error would end the process.

export interface LimitedPoolOptions extends PoolConfig {
  /** Time after which a query is cancelled. A silent connection is given up a second later. */
  queryLimitMs: number
  /** Called when a connection was silent. */
  onSilence: () => void
  /** Waits until the caller may take a connection. Returns the function to call when it has given it back. */
  takeTurn?: (() => Promise<() => void>) | undefined
}

export interface LimitedPool {
  pool: Pool
  /** Closes the idle connections (C4). */
  renewIdle(): void
}

/** A pool of connections with a time limit for each query. */
export function openLimitedPool({ queryLimitMs, onSilence, takeTurn, ...config }: LimitedPoolOptions): LimitedPool {
  const idle = new Set<LimitedClient>()

  class PooledClient extends LimitedClient {
    constructor(clientConfig: ClientConfig) {
      super(clientConfig, queryLimitMs, () => {
        renewIdle()
        onSilence()
      })
    }
  }

  const clients = { ...config, Client: PooledClient as unknown as typeof Client }
  const pool = takeTurn ? new PoolWithTurns(clients, takeTurn) : new Pool(clients)
  pool.on('acquire', (client) => void idle.delete(client as unknown as LimitedClient))
  pool.on('release', (_error, client) => void idle.add(client as unknown as LimitedClient))
  pool.on('remove', (client) => void idle.delete(client as unknown as LimitedClient))

  function renewIdle(): void {
    for (const client of idle) client.abandon('it was idle when another connection fell silent')
    idle.clear()
  }

  return { pool, renewIdle }
}

type OnConnect = (error: Error | undefined, client: PoolClient | undefined, release: PoolClient['release']) => void

/** A pool in which every connection is taken in turn. `query` of a pool connects too. */
class PoolWithTurns extends Pool {
  readonly #takeTurn: () => Promise<() => void>

  constructor(config: PoolConfig, takeTurn: () => Promise<() => void>) {
    super(config)
    this.#takeTurn = takeTurn
  }

  override connect(): Promise<PoolClient>
  override connect(onConnect: OnConnect): void
  override connect(onConnect?: OnConnect): Promise<PoolClient> | void {
    const connected = this.#connectInTurn()
    if (!onConnect) return connected
    connected.then(
      (client) => onConnect(undefined, client, client.release),
      (error: Error) => onConnect(error, undefined, () => {}),
    )
  }

  async #connectInTurn(): Promise<PoolClient> {
    const giveBack = await this.#takeTurn()
    try {
      const client = await super.connect()
      const { release } = client // a new one for each use of the client
      client.release = (error) => {
        release(error)
        giveBack()
      }
      return client
    } catch (error) {
      giveBack()
      throw error
    }
  }
}

/**
 * How soon Postgres reports the cancellation. After a stall of this process, it is also the time to read what has
 * arrived.
 */
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
      // The cancel request may still arrive, and would cancel the next query.
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

  /** Asks Postgres on another connection to cancel the query of this one. */
  #cancel(): void {
    const { host, port, processID, secretKey } = this as unknown as Started
    if (processID === null || secretKey === null) return // a pooler without support for cancellation
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

/** What pg knows of a connected client. */
interface Started {
  host: string
  port: number
  processID: number | null
  secretKey: number | null
}

/** Worded like the kernel's error for a connection it gives up, which this anticipates (C3). */
function timedOut(why: string): Error {
  const error = new Error(`gave up a connection to Postgres: ${why}`)
  return Object.assign(error, { code: 'ETIMEDOUT', errno: -constants.errno.ETIMEDOUT, syscall: 'read' })
}
