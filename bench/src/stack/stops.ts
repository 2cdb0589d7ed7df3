/** Stops of everything started, run in reverse order. */
export interface Stops {
  add(stop: () => Promise<unknown>): void
  /** Stops everything once; later calls wait for the same stop. A failing one doesn't keep the others from stopping. */
  run(): Promise<void>
}

export function openStops(): Stops {
  const stops: (() => Promise<unknown>)[] = []
  let running: Promise<void> | null = null

  async function stopAll(): Promise<void> {
    for (let stop = stops.pop(); stop; stop = stops.pop())
      await stop().catch((error: unknown) => void process.stderr.write(`While stopping: ${String(error)}\n`))
  }

  return {
    add: (stop) => void stops.push(stop),
    run: () => (running ??= stopAll()),
  }
}
