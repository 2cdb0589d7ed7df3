import { setTimeout as wait } from 'node:timers/promises'
import type { TiedProcess } from './end-with-starter.ts'

/**
 * Polls `isReady` until it returns true, the program has ended, or `deadline` (milliseconds since the epoch) has
 * passed.
 */
export async function awaitReady(
  program: TiedProcess,
  isReady: () => Promise<boolean>,
  deadline: number,
): Promise<'ready' | 'ended' | 'late'> {
  const ended = program.ended.then(() => 'ended' as const)
  while (Date.now() < deadline) {
    const news = await Promise.race([ended, wait(20, null)])
    if (news === 'ended') return 'ended'
    if (await isReady()) return 'ready'
  }
  return 'late'
}
