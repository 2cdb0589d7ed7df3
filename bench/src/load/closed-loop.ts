/** The result of one measurement. */
export interface Sample {
  /** Calls that succeeded. */
  calls: number
  /** Duration until the last of them. */
  tookMs: number
  /** Of each call, ascending, in milliseconds. */
  latenciesMs: Float64Array
}

interface Load {
  clients: number
  lastsMs: number
  /** One call. An error ends the measurement. `n` counts the calls of all clients. */
  call: (n: number) => Promise<unknown>
  now: () => number
}

/** Runs this many clients, each calling again as soon as it has its response, until the time is up. */
export async function closedLoop({ clients, lastsMs, call, now }: Load): Promise<Sample> {
  const latencies: number[] = []
  const startMs = now()
  const endMs = startMs + lastsMs
  let n = 0

  async function client(): Promise<void> {
    for (let atMs = now(); atMs < endMs;) {
      await call(n++)
      const answeredMs = now()
      latencies.push(answeredMs - atMs)
      atMs = answeredMs
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { calls: latencies.length, tookMs: now() - startMs, latenciesMs: Float64Array.from(latencies).toSorted() }
}
