import { execFile } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Pauses processes and everything they have started for this long, like a paused or starved machine. They continue in
 * any case, and their connections stay unchanged.
 */
export async function standStill(pids: readonly number[], ms: number): Promise<void> {
  const stopped = new Set<number>()
  try {
    // A process that is still running may start another one: repeat until nothing new is found.
    for (let found = [...pids]; found.length > 0; found = (await treeOf(pids)).filter((pid) => !stopped.has(pid)))
      for (const pid of found) {
        send(pid, 'SIGSTOP')
        stopped.add(pid)
      }
    await wait(ms)
  } finally {
    for (const pid of [...stopped].toReversed()) send(pid, 'SIGCONT')
  }
}

/** Ignores a process that has ended meanwhile. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** These processes and all that they started, parents first. */
async function treeOf(pids: readonly number[]): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid='])
  const childrenOf = new Map<number, number[]>()
  for (const line of stdout.trim().split('\n')) {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number)
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), pid])
  }
  const tree = [...pids]
  for (const pid of tree) tree.push(...(childrenOf.get(pid) ?? []))
  return tree
}
