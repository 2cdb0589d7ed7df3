import type { Notifier } from '@gateway/notifier/notifier'

/** Whoever waits for something of a run: he is woken by the notifier, by one of `signals`, or by himself after a while. */
export interface Waiter {
  /** From now on to this topic, and to none before it. */
  listenTo(topic: string): void
  /** Ends at once where something was heard since the last one ended. */
  next(): Promise<'woken' | 'by-itself'>
  close(): void
}

interface Options {
  notifier: Pick<Notifier, 'subscribe'>
  signals: AbortSignal[]
  /** How often to look where no notifier rings. Milliseconds. */
  everyMs: number
}

export function openWaiter({ notifier, signals, everyMs }: Options): Waiter {
  let unlisten = () => {}
  let woken = false
  let end: ((how: 'woken') => void) | null = null

  function wake(): void {
    woken = true
    end?.('woken')
  }
  for (const signal of signals) signal.addEventListener('abort', wake)

  return {
    listenTo(topic) {
      unlisten()
      unlisten = notifier.subscribe(topic, wake)
    },
    async next() {
      let how: 'woken' | 'by-itself' = 'woken'
      if (!woken) {
        const waiting = Promise.withResolvers<'woken' | 'by-itself'>()
        const timer = setTimeout(() => waiting.resolve('by-itself'), everyMs)
        end = waiting.resolve
        how = await waiting.promise
        end = null
        clearTimeout(timer)
      }
      woken = false
      return how
    },
    close() {
      unlisten()
      for (const signal of signals) signal.removeEventListener('abort', wake)
    },
  }
}
