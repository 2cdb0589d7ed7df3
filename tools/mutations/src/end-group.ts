import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

// Runs a program and ends it with everything that it started.
//   G1  It leads a process group, so Ctrl-C in a terminal reaches only this process, and the group ends as one.
//   G2  Processes outside the group (the watchdogs of embedded servers, in separate sessions) end by themselves once
//       their starter is gone. They are recognized by the folder of the copy in their command line, and must end before
//       the folder is removed.

export interface Ended {
  /** Null if this process ended it. */
  code: number | null
  why: 'ended' | 'late' | 'stopped'
  output: string
}

interface Program {
  command: string
  args: string[]
  cwd: string
  env: NodeJS.ProcessEnv
  limitMs: number
  stop: AbortSignal
}

/** Runs a program to its end, to its time limit, or until `stop`. Returns its output. */
export async function runGroup({ command, args, cwd, env, limitMs, stop }: Program): Promise<Ended> {
  stop.throwIfAborted()
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }) // G1
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => void (output = (output + part.toString()).slice(-MOST_CHARACTERS)))
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
  let why: Ended['why'] = 'ended'
  const end = (because: Ended['why']) => {
    why = because
    signalGroup(child.pid, 'SIGKILL')
  }
  const timer = setTimeout(() => end('late'), limitMs)
  const onStop = () => end('stopped')
  stop.addEventListener('abort', onStop)
  try {
    const code = await ended
    return { code: why === 'ended' ? code : null, why, output }
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', onStop)
    signalGroup(child.pid, 'SIGKILL') // processes that it left behind
  }
}

/** Waits until no process of the copy is left, and kills those that take too long (G2). */
export async function awaitNoneIn(folder: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const left = await processesIn(folder)
    if (left.length === 0) return
    if (waitedMs >= PATIENCE_MS) for (const pid of left) signal(pid, 'SIGKILL')
    await delay(LOOK_MS)
  }
}

const MOST_CHARACTERS = 20_000
const LOOK_MS = 200
const PATIENCE_MS = 20_000

async function processesIn(folder: string): Promise<number[]> {
  const list = spawn('ps', ['-axww', '-o', 'pid=,command='], { stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  for await (const part of list.stdout) text += String(part)
  return text
    .split('\n')
    .filter((line) => line.includes(folder))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid !== process.pid)
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid !== undefined) signal(-pid, name)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // it has ended
  }
}
