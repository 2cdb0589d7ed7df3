import { constants } from 'node:os'
import { Socket } from 'node:net'
import { Client, Pool, type ClientConfig, type PoolConfig } from 'pg'

// Connections whose answers have a time limit, because a connection can die without a word: its host vanished, or
// something between us forgot it. Without a limit a query would wait for the kernel, up to two hours.
//   C1  A query that is not answered in time ends its connection: its socket is destroyed, so that nothing that comes
//       late is read as the answer to something else. The `query_timeout` of pg only ends the waiting; after it a
//       transaction would hand the same connection back to the pool, and the next query would wait behind the silent one.
//   C2  Whether such a query was carried out is not known. Its error has no SQLSTATE, as that of a connection that broke.
//   C3  Where one connection fell silent the idle ones probably did: they are closed too, so that the next queries don't
//       each wait for one of them. The pool opens new ones when they are needed.

export interface LimitedPoolOptions extends PoolConfig {
  /** How long a query may take, from its sending to its answer. */
  queryLimitMs: number
  /** Told when a query was not answered in time. */
  onSilence: () => void
}

export interface LimitedPool {
  pool: Pool
  /** Closes the connections that nobody uses now (C3). */
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

/** Where this process itself stood still, the answer lies in the socket and is read before this is over. */
const READ_MS = 100

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
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- pg declares six forms of it, and all of them pass through
  override query(...parameters: any[]): any {
    const giveUp = () => {
      this.abandon(`it did not answer within ${this.#limitMs} ms`)
      this.#onSilence()
    }
    let timer = setTimeout(() => (timer = setTimeout(giveUp, READ_MS)), this.#limitMs)
    const answered = () => clearTimeout(timer)
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

  /** C1 */
  abandon(why: string): void {
    this.#socket.destroy(timedOut(why))
  }
}

/** As the kernel says it where it gives a connection up, which is what this anticipates (C2). */
function timedOut(why: string): Error {
  const error = new Error(`a connection to Postgres was given up: ${why}`)
  return Object.assign(error, { code: 'ETIMEDOUT', errno: -constants.errno.ETIMEDOUT, syscall: 'read' })
}
