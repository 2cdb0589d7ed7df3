// Runs one program for the process that forked this one, and ends it when that process is gone.
//   W1  The channel to the starter is the only sign of life: the kernel closes it however the starter ends.
//   W2  This process outlives the program, so cleanup does not depend on the program.
import { spawn, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { OrderToWatchdog, TiedProgram, WordFromWatchdog } from './end-with-starter.ts'

let ending = false

process.once('message', (first: OrderToWatchdog) => {
  if (!('run' in first)) throw new Error('The first word to a watchdog is what to run.')
  const child = spawn(first.run.command, first.run.args, {
    cwd: first.run.cwd,
    ...first.run.user,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  child.on('spawn', () => report({ started: child.pid ?? 0 }))
  child.on('error', (error) => report({ failed: error.message }))
  child.on('exit', (code, signal) => {
    const { removeIfOrphaned } = first.run
    if (removeIfOrphaned && !process.connected) rmSync(removeIfOrphaned, { recursive: true, force: true })
    report({ ended: { code, signal } })
    if (process.connected) process.disconnect()
  })

  process.on('message', (order: OrderToWatchdog) => {
    if ('signal' in order) child.kill(order.signal)
    else if ('stop' in order) void end(child, first.run)
  })
  process.on('disconnect', () => void end(child, first.run)) // W1
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => void end(child, first.run))
})

async function end(child: ChildProcess, program: TiedProgram): Promise<void> {
  if (ending || hasEnded(child)) return
  ending = true
  for (const { signal, graceMs } of program.endWith) {
    child.kill(signal)
    if (await endsWithin(child, graceMs)) return
  }
  child.kill('SIGKILL')
}

function endsWithin(child: ChildProcess, ms: number): Promise<boolean> {
  if (hasEnded(child)) return Promise.resolve(true)
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function report(word: WordFromWatchdog): void {
  if (process.connected) process.send?.(word)
}
