import { Stopping } from './stopping.ts'

/** The work that is under way: calls, also those whose caller has gone, and settlements behind them. */
export interface OpenCalls {
  /** Runs a call. */
  run(call: () => Promise<void>): Promise<void>
  /** Counts work that goes on behind an answer. */
  behind(work: Promise<void>): Promise<void>
  /** Aborts when running calls have to end now. */
  ending: AbortSignal
  count(): number
  /** Waits until all has ended. */
  idle(): Promise<void>
}

interface Options {
  /** Aborts when this process begins to stop; from then on calls have `finishMs` to end by themselves. */
  stopping: AbortSignal
  finishMs: number
}

export function openCallsOf({ stopping, finishMs }: Options): OpenCalls {
  const work = new Set<Promise<void>>()
  const ending = new AbortController()
  let calls = 0
  stopping.addEventListener('abort', () => void setTimeout(() => ending.abort(new Stopping()), finishMs).unref())

  function behind(one: Promise<void>): Promise<void> {
    const counted = one.finally(() => work.delete(counted))
    work.add(counted)
    return counted
  }

  return {
    async run(call) {
      calls++
      try {
        await behind(call())
      } finally {
        calls--
      }
    },
    behind,
    ending: ending.signal,
    count: () => calls,
    async idle() {
      while (work.size > 0) await Promise.allSettled(work)
    },
  }
}
