import { setTimeout as wait } from 'node:timers/promises'

interface Server {
  readonly ended: Promise<unknown>
  restart(): Promise<void>
}

interface Deps {
  stopping: AbortSignal
  log: (message: string) => void
  /** Delay between attempts, in milliseconds. */
  backOffMs?: number
}

/** Restarts an embedded server whenever it ends before shutdown. Resolves when the shutdown starts. */
export async function keepServer(
  name: string,
  server: Server,
  { stopping, log, backOffMs = 1_000 }: Deps,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve(), { once: true }))
  while (!stopping.aborted) {
    await Promise.race([server.ended, stopped])
    if (stopping.aborted) return
    log(`${name} ended, restarting it`)
    try {
      await server.restart()
      log(`${name} is back`)
    } catch (error) {
      log(`${name} did not start: ${error instanceof Error ? error.message : String(error)}`)
      await wait(backOffMs, undefined, { signal: stopping }).catch(() => {})
    }
  }
}
