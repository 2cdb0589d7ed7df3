/** How one call of the load ended. */
export interface Ended {
  status: number
  /** Whether the response said when to retry. */
  retryAfter: boolean
}

export interface OfferedLoad {
  /** Calls that were due, and sent. */
  offered: number
  /** By status. 0: the connection failed. */
  ended: Map<number, number>
  /** 503 without Retry-After. */
  untold: number
  /** Of each call with a response, from when it was due; ascending, in milliseconds. */
  latenciesMs: Float64Array
  tookMs: number
}

interface Load {
  perSecond: number
  lastsMs: number
  call: (n: number) => Promise<Ended>
  now: () => number
}

const TICK_MS = 2

/**
 * Sends calls regardless of earlier responses, as independent callers do. Latency is measured from when a call was due,
 * so that a delayed load does not look like fast responses.
 */
export async function openLoop({ perSecond, lastsMs, call, now }: Load): Promise<OfferedLoad> {
  const load = { offered: 0, ended: new Map<number, number>(), untold: 0 }
  const latencies: number[] = []
  const under = new Set<Promise<void>>()
  const startMs = now()
  const dueMs = (n: number) => startMs + (n * 1000) / perSecond

  async function one(n: number): Promise<void> {
    const { status, retryAfter } = await call(n)
    load.ended.set(status, (load.ended.get(status) ?? 0) + 1)
    if (status === 200) latencies.push(now() - dueMs(n))
    if (status === 503 && !retryAfter) load.untold++
  }

  while (now() < startMs + lastsMs) {
    for (; dueMs(load.offered) <= now(); load.offered++) {
      const work: Promise<void> = one(load.offered).finally(() => under.delete(work))
      under.add(work)
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
  await Promise.all(under)
  return { ...load, latenciesMs: Float64Array.from(latencies).toSorted(), tookMs: now() - startMs }
}
