import { setTimeout as wait } from 'node:timers/promises'
import { residentMiB } from '../soak/resident-memory.ts'

/** Lets a gateway collect its garbage. */
const COLLECT_GARBAGE = 'SIGUSR2'
const collector = `data:text/javascript,process.on('${COLLECT_GARBAGE}',()=>gc())`

/** Environment of a gateway whose memory is measured with `keptMiB`. */
export const gatewaysThatCollect = { NODE_OPTIONS: `--expose-gc --import=${collector}` }

/** Memory once the garbage is collected, which V8 otherwise puts off while a process has nothing to do. */
export async function keptMiB(pid: number): Promise<number> {
  let least = Infinity
  for (let n = 0; n < 5; n++) {
    process.kill(pid, COLLECT_GARBAGE)
    await wait(1_000)
    least = Math.min(least, await residentMiB(pid))
  }
  return least
}
