export interface HeldCalls {
  /** Resolves when the call is let go, or when its caller has disconnected. */
  hold(disconnected: AbortSignal): Promise<void>
  /** Lets the first `count` held calls go, in order of arrival (default: all); answers how many. */
  release(count?: number): number
}

/** Where calls under a `hold` fault wait. */
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
