import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { inherited } from '@gateway/local-stack/service-environment'

export interface ProgramOptions {
  name: string
  /** A file for Node. */
  entry: string
  args?: string[]
  /** Arguments of Node. */
  nodeArgs?: string[]
  env: Record<string, string>
  /** Folder of its log. */
  logFolder: string
  /** Responds with 200 once the program can do its work. */
  readyUrl: string
}

export interface RunningProgram {
  pid: number
  /** Stops it gracefully, or by SIGKILL if it takes too long. Safe to repeat. */
  stop(): Promise<void>
}

const READY_LIMIT_MS = 30_000
const STOP_LIMIT_MS = 15_000
const ASK_EVERY_MS = 50

/**
 * Starts a program as a separate process and resolves when it is ready. Its standard input closes with this process,
 * which ends it. Throws one message with the end of its log if it ends before, or is not ready in time.
 */
export async function startProgram(options: ProgramOptions): Promise<RunningProgram> {
  const { name, entry, args = [], nodeArgs = [], env, logFolder, readyUrl } = options
  const logFile = path.join(logFolder, `${name}.log`)
  const log = openSync(logFile, 'w')
  const child = spawn(process.execPath, [...nodeArgs, entry, ...args], {
    cwd: logFolder,
    env: { ...inherited(process.env), STOP_WITH_PARENT: '1', ...env },
    detached: true, // so that a Ctrl-C reaches only the bench, which stops everything in order
    stdio: ['pipe', log, log],
  })
  closeSync(log)
  child.stdin?.on('error', () => {})
  const stop = () => end(child)

  const deadlineMs = performance.now() + READY_LIMIT_MS
  while (!(await answers(readyUrl))) {
    if (hasEnded(child) || performance.now() > deadlineMs) {
      await stop()
      const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-15)
      throw new Error(`${name} did not start:\n${lines.join('\n')}`)
    }
    await wait(ASK_EVERY_MS)
  }
  return { pid: child.pid!, stop }
}

async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    await answer.body?.cancel()
    return answer.status === 200
  } catch {
    return false
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
  clearTimeout(killer)
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
