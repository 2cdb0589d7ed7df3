import { fork } from 'node:child_process'
import { openSync, closeSync } from 'node:fs'
import path from 'node:path'

const watchdogFile = path.join(import.meta.dirname, 'watchdog.ts')

/**
 * The program to run in the starter's environment, and how to end it. Plain data, because it crosses a process
 * boundary.
 */
export interface TiedProgram {
  command: string
  args: string[]
  cwd: string
  /** Runs as this user instead of the starter's user. */
  user?: { uid: number; gid: number }
  /** Sent in order until the program has ended, with a grace period each. SIGKILL follows the last. */
  endWith: { signal: NodeJS.Signals; graceMs: number }[]
  /** A folder to remove if the starter is gone without stopping the program. */
  removeIfOrphaned?: string
}

export interface TiedProcess {
  /** The program's own process id. */
  pid: number
  /** Resolves when the program has ended for any reason. Never rejects. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  signal: (name: NodeJS.Signals) => void
  /** Ends the program by `endWith` and waits for its end. */
  stop: () => Promise<void>
}

export type OrderToWatchdog = { run: TiedProgram } | { signal: NodeJS.Signals } | { stop: true }
export type WordFromWatchdog =
  | { started: number }
  | { failed: string }
  | { ended: { code: number | null; signal: NodeJS.Signals | null } }

/**
 * Starts a program that ends when this process ends, including by `kill -9` or a crash.
 *
 * A watchdog process between the two holds a channel to this one. The kernel closes the channel when this process is
 * gone, and the watchdog then ends the program. Both are in separate sessions, so that Ctrl-C in a terminal doesn't
 * reach them and this process controls the order of stopping.
 *
 * The program's output goes to `logFile`, which is truncated.
 */
export async function startTied(program: TiedProgram, logFile: string): Promise<TiedProcess> {
  const log = openSync(logFile, 'w', 0o600)
  const watchdog = fork(watchdogFile, [], {
    detached: true,
    execArgv: [],
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)

  const started = Promise.withResolvers<number>()
  const ended = Promise.withResolvers<{ code: number | null; signal: NodeJS.Signals | null }>()
  started.promise.catch(() => {})
  watchdog.on('message', (word: WordFromWatchdog) => {
    if ('started' in word) started.resolve(word.started)
    else if ('failed' in word) started.reject(new Error(`${program.command} did not start: ${word.failed}`))
    else ended.resolve(word.ended)
  })
  watchdog.on('error', (error) => started.reject(error))
  watchdog.on('exit', () => {
    started.reject(new Error(`The watchdog of ${program.command} ended; see ${logFile}`))
    ended.resolve({ code: null, signal: null })
  })

  const order = (word: OrderToWatchdog) => {
    if (watchdog.connected) watchdog.send(word)
  }
  order({ run: program })
  return {
    pid: await started.promise,
    ended: ended.promise,
    signal: (name) => order({ signal: name }),
    stop: async () => {
      order({ stop: true })
      await ended.promise
    },
  }
}
