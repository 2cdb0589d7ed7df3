import type { Environment } from './config.ts'

/** What of `process` is needed here, so that a test can play it. */
export interface SignalSource {
  on(event: NodeJS.Signals | 'disconnect', listener: () => void): unknown
  readonly channel?: unknown
  readonly stdin: { on(event: 'close', listener: () => void): unknown; resume(): unknown }
}

interface Deps {
  source: SignalSource
  env: Environment
  /** Called once, with what asked for it. */
  stop: (reason: string) => void
  /** Called when a second signal asks for an end without waiting. */
  force: (reason: string) => void
  now: () => number
}

// A terminal signals every process in front of it and npm passes the signal on once more, so one Ctrl-C arrives twice.
const sameRequestMs = 1_000

/**
 * Stops on SIGTERM, SIGINT and SIGHUP; a second signal forces. With `STOP_WITH_PARENT=1` it also stops when the parent
 * has ended, however it did: the kernel then closes the channel between them, or standard input where there is none.
 */
export function onStopSignals({ source, env, stop, force, now }: Deps): void {
  let askedAt: number | undefined

  function ask(reason: string): void {
    if (askedAt === undefined) {
      askedAt = now()
      stop(reason)
    } else if (now() - askedAt > sameRequestMs) {
      force(reason)
    }
  }

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) source.on(signal, () => ask(signal))

  if (env['STOP_WITH_PARENT'] !== '1') return
  const parentEnded = () => {
    if (askedAt === undefined) ask('the parent process has ended')
  }
  if (source.channel) source.on('disconnect', parentEnded)
  else {
    source.stdin.on('close', parentEnded)
    source.stdin.resume()
  }
}
