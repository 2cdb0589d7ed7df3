import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Ends with whoever started it, however that ends. */
const LOOP = 'const parent = process.ppid; while (process.ppid === parent);'

/** Keeps every processor busy with something else. Answers how many there are, and how to stop. */
export function keepProcessorsBusy(): { count: number; stop: () => Promise<void> } {
  const loops = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', LOOP], { stdio: 'ignore' }),
  )
  return {
    count: loops.length,
    stop: async () => {
      for (const loop of loops) loop.kill('SIGKILL')
    },
  }
}
