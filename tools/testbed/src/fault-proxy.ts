import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { portOf } from '@gateway/local-stack/stack-ports'
import { setTimeout as wait } from 'node:timers/promises'

export interface FaultProxy {
  readonly host: string
  readonly port: number
  /** Open connections, including silent ones whose caller has not closed them. */
  readonly connections: number
  /** The same URL with the proxy's address. */
  through: (url: string) => string
  /** Delays every byte in each direction by this many milliseconds. Keeps the order. */
  latency: (ms: number) => void
  /** Refuses connections and resets open ones, as if the target's process were gone. */
  down: () => Promise<void>
  /** Accepts connections again. */
  up: () => Promise<void>
  /** Resets the open connections. */
  reset: () => void
  /**
   * Lets this many more bytes through in one direction, across all connections, then resets all. Resolves after that.
   */
  cutAfter: (bytes: number, direction: Direction) => Promise<void>
  /**
   * Holds back every byte in one direction, or both, while connections stay open. Resolves when the first byte is held
   * back.
   */
  stall: (direction?: Direction) => Promise<void>
  /**
   * Permanently silences the open connections, as if their other end had vanished: no further bytes pass, nor the close
   * of either side. New ones work, or are accepted and silent as well.
   */
  fallSilent: (options?: { newConnections?: 'pass' | 'silent' }) => void
  /**
   * Ends latency, stalls and a cut that has not happened yet; held bytes continue. New connections work again; silent
   * ones stay silent until reset.
   */
  heal: () => void
  close: () => Promise<void>
}

/** A TCP proxy on its own loopback port, with faults on demand. Starts without any. */
export async function startFaultProxy(target: { host: string; port: number }): Promise<FaultProxy> {
  const faults: Faults = { latencyMs: 0, stalled: null, cut: null, healed: Promise.withResolvers<void>() }
  const callers = new Set<Socket>()
  const sockets = new Set<Socket>()
  const silent = new WeakSet<Socket>()
  let newAreSilent = false
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    callers.add(caller)
    caller.on('close', () => callers.delete(caller))
    caller.on('end', () => silent.has(caller) && caller.destroy()) // the target is not notified
    if (newAreSilent) return keepSilent(caller)
    const callee = connect({ ...target, allowHalfOpen: true })
    for (const [from, to, direction] of [
      [caller, callee, 'toServer'],
      [callee, caller, 'toClient'],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => silent.has(from) || to.resetAndDestroy())
      from.on('close', () => {
        sockets.delete(from)
        if (!from.readableEnded && !silent.has(from)) to.destroy()
      })
      pump(from, to, direction, faults, reset, () => silent.has(from))
    }
  })
  const port = await listen(server, 0)

  /** Accepts and discards all input, and sends nothing. */
  function keepSilent(socket: Socket): void {
    sockets.add(socket)
    silent.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
  }

  const heal = () => {
    newAreSilent = false
    faults.latencyMs = 0
    faults.stalled = null
    faults.cut = null
    faults.healed.resolve()
    faults.healed = Promise.withResolvers<void>()
  }
  const down = async () => {
    reset()
    await stopListening(server)
  }
  return {
    host: '127.0.0.1',
    port,
    get connections() {
      return callers.size
    },
    through: (url) => {
      const changed = new URL(url)
      changed.host = `127.0.0.1:${port}`
      return changed.href
    },
    latency: (ms) => {
      faults.latencyMs = ms
    },
    down,
    up: async () => {
      if (!server.listening) await listen(server, port)
    },
    reset,
    cutAfter: (bytes, direction) => {
      const done = Promise.withResolvers<void>()
      faults.cut = { bytesLeft: bytes, direction, done }
      return done.promise
    },
    stall: (direction) => {
      const caught = Promise.withResolvers<void>()
      faults.stalled = { direction: direction ?? 'both', caught }
      return caught.promise
    },
    fallSilent: ({ newConnections = 'pass' } = {}) => {
      newAreSilent = newConnections === 'silent'
      for (const socket of sockets) silent.add(socket)
    },
    heal,
    close: async () => {
      await down()
      heal()
    },
  }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return portOf(server)
}

async function stopListening(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  await closed
}

type Direction = 'toServer' | 'toClient'

/** The active faults, shared by all connections of one proxy. */
interface Faults {
  latencyMs: number
  stalled: { direction: Direction | 'both'; caught: PromiseWithResolvers<void> } | null
  cut: { bytesLeft: number; direction: Direction; done: PromiseWithResolvers<void> } | null
  /** Resolves when the faults end; replaced each time. */
  healed: PromiseWithResolvers<void>
}

const mostChunksUnderWay = 256

/**
 * Passes bytes one way under the faults, in order. `reset` breaks every connection of the proxy; a silent connection
 * passes neither bytes nor its end.
 */
function pump(
  from: Socket,
  to: Socket,
  direction: Direction,
  faults: Faults,
  reset: () => void,
  isSilent: () => boolean,
): void {
  let underWay = 0
  let last = Promise.resolve()

  const inOrder = (deliver: () => Promise<void>) => {
    last = deliverAfter(last, performance.now() + faults.latencyMs, to, async () => {
      if (!isSilent()) await deliver()
    })
  }
  from.on('data', (chunk: Buffer) => {
    if (isSilent()) return
    if (++underWay >= mostChunksUnderWay) from.pause()
    inOrder(async () => {
      await throughStall(direction, faults)
      if (isSilent()) return
      const cut = faults.cut?.direction === direction ? faults.cut : null
      const passing = cut ? chunk.subarray(0, cut.bytesLeft) : chunk
      await write(to, passing)
      if (--underWay < mostChunksUnderWay) from.resume()
      if (!cut) return
      cut.bytesLeft -= passing.length
      if (cut.bytesLeft > 0) return
      faults.cut = null
      reset()
      cut.done.resolve()
    })
  })
  from.on('end', () => inOrder(async () => void to.end()))
}

async function deliverAfter(
  last: Promise<void>,
  dueAt: number,
  to: Socket,
  deliver: () => Promise<void>,
): Promise<void> {
  await last
  const leftMs = dueAt - performance.now()
  if (leftMs > 0) await wait(leftMs)
  if (!to.destroyed) await deliver()
}

async function throughStall(direction: Direction, faults: Faults): Promise<void> {
  while (faults.stalled && [direction, 'both'].includes(faults.stalled.direction)) {
    faults.stalled.caught.resolve()
    await faults.healed.promise
  }
}

/** Resolves when the bytes are passed to the system, or the other side is gone. */
async function write(to: Socket, bytes: Buffer): Promise<void> {
  if (to.destroyed || bytes.length === 0 || to.write(bytes)) return
  await Promise.race([once(to, 'drain'), once(to, 'close')]).catch(() => {})
}
