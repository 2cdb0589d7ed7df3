interface OpenLoad<T> {
  /** Calls per second. */
  rate: number
  lastsMs: number
  /** One call, due at `dueMs` of `performance.now()`. An error ends the measurement. */
  call: (dueMs: number) => Promise<T>
}

/** Starts calls at a fixed rate, regardless of when the earlier ones end. Returns their results, in order. */
export async function openLoop<T>({ rate, lastsMs, call }: OpenLoad<T>): Promise<T[]> {
  const calls: Promise<T>[] = []
  const count = Math.round((rate * lastsMs) / 1_000)
  const startMs = performance.now()
  const dueMs = (n: number) => startMs + (n * 1_000) / rate
  const allStarted = Promise.withResolvers<void>()

  function startDue(): void {
    while (calls.length < count && dueMs(calls.length) <= performance.now()) {
      const started = call(dueMs(calls.length))
      started.catch(() => {}) // reported below
      calls.push(started)
    }
    if (calls.length < count) setTimeout(startDue, 1)
    else allStarted.resolve()
  }
  startDue()
  await allStarted.promise
  return Promise.all(calls)
}
