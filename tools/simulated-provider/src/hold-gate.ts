export interface HoldGate {
  /** Resolves when the call is let go, or when its caller has gone. */
  hold(gone: AbortSignal): Promise<void>
  /** Lets the first `count` held calls go, in order of arrival (default: all); answers how many. */
  release(count?: number): number
}

/** Where calls under a `hold` fault wait. */
export function openGate(): HoldGate {
  const held = new Set<() => void>()
  return {
    async hold(gone) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held.add(resolve)
      gone.addEventListener('abort', () => resolve())
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
