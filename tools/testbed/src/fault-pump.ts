import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export type Direction = 'toServer' | 'toClient'

/** The active faults, shared by all connections of one proxy. */
export interface Faults {
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
export function pump(
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
