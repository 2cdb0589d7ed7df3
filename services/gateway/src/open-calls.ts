/** Why a running call was ended: this process had to stop, and the time that the call had left was over. */
export class ProcessStopping extends Error {
  constructor() {
    super('the process is stopping')
  }
}

/**
 * The work that is under way: calls, also those whose caller has disconnected, and settlements that outlast their call.
 */
export interface OpenCalls {
  /** Runs a call. */
  run(call: () => Promise<void>): Promise<void>
  /** Counts work that goes on after its call was answered. */
  track<T>(work: Promise<T>): Promise<T>
  /** Aborts, by `ProcessStopping`, when running calls have to end now. */
  cancellation: AbortSignal
  /** Calls under way, without the work that is only tracked. */
  count(): number
  /** Waits until all work has ended. */
  idle(): Promise<void>
}

interface Options {
  /** Aborts when this process begins to stop; from then on calls have `finishMs` to end by themselves. */
  stopping: AbortSignal
  finishMs: number
}

export function trackOpenCalls({ stopping, finishMs }: Options): OpenCalls {
  const underWay = new Set<Promise<unknown>>()
  const cancellation = new AbortController()
  let calls = 0
  stopping.addEventListener(
    'abort',
    () => void setTimeout(() => cancellation.abort(new ProcessStopping()), finishMs).unref(),
  )

  function track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => underWay.delete(tracked))
    underWay.add(tracked)
    return tracked
  }

  return {
    async run(call) {
      calls++
      try {
        await track(call())
      } finally {
        calls--
      }
    },
    track,
    cancellation: cancellation.signal,
    count: () => calls,
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}
