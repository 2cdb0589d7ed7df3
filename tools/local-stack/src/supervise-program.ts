import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

// Keeps one program running as a separate process.
//   S1  It is in a separate session, so a Ctrl-C in the terminal reaches only the starter, which controls the order.
//   S2  Its standard input is a pipe that the kernel closes when the starter ends for any reason; the program then ends
//       itself (STOP_WITH_PARENT).
//   S3  A program that dies after it was ready is restarted, with increasing delays; one that was never ready is not.

export interface Program {
  name: string
  /** A TypeScript file, run by the same Node as this process. */
  entry: string
  env: Record<string, string>
  /** Its output is appended. */
  logFile: string
  /** Responds with 200 when the program can do its work. */
  readyUrl: string
}

export interface SupervisedProgram {
  readonly pid: number | undefined
  /** Ends it with SIGTERM, or with SIGKILL if it takes too long, and prevents a restart. */
  stop(): Promise<void>
}

interface Deps {
  /** Receives a line when the program dies and when it is back. */
  log: (message: string) => void
  readyLimitMs?: number
  stopLimitMs?: number
  /**
   * The first delay before a restart; it doubles up to `longestBackOffMs`, and resets after a minute without a failure.
   */
  backOffMs?: number
}

const longestBackOffMs = 10_000
const quietMs = 60_000

/**
 * Starts the program and resolves when it is ready. Rejects with one message, including its last log lines, if it ends
 * before.
 */
export async function superviseProgram(
  program: Program,
  { log, readyLimitMs = 60_000, stopLimitMs = 15_000, backOffMs = 250 }: Deps,
): Promise<SupervisedProgram> {
  const stopping = new AbortController()
  let child = spawnProgram(program)
  let over = Promise.resolve()

  async function keepRunning(): Promise<void> {
    let waitMs = backOffMs
    while (!stopping.signal.aborted) {
      const readySince = performance.now()
      const how = await ended(child)
      if (stopping.signal.aborted) return
      if (performance.now() - readySince > quietMs) waitMs = backOffMs
      log(`${program.name} died (${how}), restarting it; see ${program.logFile}`)
      for (;;) {
        await wait(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
        if (stopping.signal.aborted) return
        waitMs = Math.min(waitMs * 2, longestBackOffMs)
        child = spawnProgram(program)
        if (await readyOrEnded(child)) break
      }
      if (!stopping.signal.aborted) log(`${program.name} is back`)
    }
  }

  async function readyOrEnded(started: ChildProcess): Promise<boolean> {
    const giveUp = AbortSignal.any([stopping.signal, AbortSignal.timeout(readyLimitMs), whenEnded(started)])
    if (await answersReady(program.readyUrl, giveUp)) return true
    await end(started, 'SIGKILL', 0)
    return false
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await end(child, 'SIGTERM', stopLimitMs)
    await over
  }

  if (!(await readyOrEnded(child))) {
    const how = child.signalCode === 'SIGKILL' ? `it was not ready within ${readyLimitMs} ms` : await ended(child)
    throw new Error(
      `${program.name} did not start (${how}). The end of ${program.logFile}:\n${lastLines(program.logFile, 12)}`,
    )
  }
  over = keepRunning()
  return {
    get pid() {
      return child.pid
    },
    stop,
  }
}

function spawnProgram({ entry, env, logFile }: Program): ChildProcess {
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(process.execPath, [entry], { env, detached: true, stdio: ['pipe', log, log] }) // S1, S2
  closeSync(log)
  child.stdin?.on('error', () => {}) // a dying program breaks the pipe; its end is handled elsewhere
  return child
}

async function answersReady(url: string, giveUp: AbortSignal): Promise<boolean> {
  while (!giveUp.aborted) {
    try {
      const answer = await fetch(url, { signal: AbortSignal.any([giveUp, AbortSignal.timeout(2_000)]) })
      await answer.body?.cancel()
      if (answer.status === 200) return !giveUp.aborted
    } catch {
      // It is not listening yet.
    }
    await wait(50, undefined, { signal: giveUp }).catch(() => {})
  }
  return false
}

async function end(child: ChildProcess, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (hasEnded(child)) return
  const killer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  child.kill(signal)
  await ended(child)
  clearTimeout(killer)
}

async function ended(child: ChildProcess): Promise<string> {
  if (!hasEnded(child)) await once(child, 'exit')
  return child.signalCode ?? `exit code ${child.exitCode}`
}

function whenEnded(child: ChildProcess): AbortSignal {
  const aborter = new AbortController()
  if (hasEnded(child)) aborter.abort()
  else child.once('exit', () => aborter.abort())
  return aborter.signal
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** The last lines of a log file, indented for the screen. Empty if there are none. */
export function lastLines(file: string, count: number): string {
  try {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    return lines
      .slice(-count)
      .map((line) => `    ${line}`)
      .join('\n')
  } catch {
    return ''
  }
}
