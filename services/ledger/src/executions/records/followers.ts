import { openSemaphore, type Semaphore } from '@gateway/service-kit/async/semaphore'

/** Looks of followers that may wait; whoever asked for one more asks again a second later. */
const MAX_WAITING = 1_000

/** @param readConnections of which followers take half at most */
export function openFollowers(readConnections: number): Semaphore {
  return openSemaphore({
    permits: Math.max(1, Math.floor(readConnections / 2)),
    maxWaiting: MAX_WAITING,
    whenFull: () => new Error('too many follow executions at once'),
  })
}
