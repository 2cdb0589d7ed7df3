export interface HeldCalls {
  /** Resolves when the call is released, or when its caller disconnects. */
  hold(disconnected: AbortSignal): Promise<void>
  /** Releases the first `count` held calls, in order of arrival (default: all); returns how many. */
  release(count?: number): number
}

/** Holds the calls with a `hold` fault. */
export function openHeldCalls(): HeldCalls {
  const held = new Set<() => void>()
  return {
    async hold(disconnected) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held.add(resolve)
      disconnected.addEventListener('abort', () => resolve())
      await promise
      held.delete(resolve)
    },
    release(count = held.size) {
      const going = [...held].slice(0, count)
      for (const letGo of going) {
        held.delete(letGo)
        letGo()
      }
      return going.length
    },
  }
}
