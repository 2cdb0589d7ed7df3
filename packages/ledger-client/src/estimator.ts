import type { EstimateFacts, SandboxEstimate } from '@gateway/api/estimate'
import { refuse } from '@gateway/api/refusal'
import { openSemaphore, type Semaphore } from '@gateway/service-kit/async/semaphore'
import { openWorkerThread } from '@gateway/service-kit/async/worker-thread'

// Estimates run the expressions of a flow (money §7.6), for callers without funds too.
//   T1  They run in one thread, so that no number of them delays other requests.
//   T2  A project has one estimate in the thread's queue, and a bounded number waiting for it. So another project waits
//       for one estimate of each busy project.

export interface Estimator {
  /** @throws Refusal `overloaded` if too many estimates of the project wait, or this one takes too long */
  estimate(facts: EstimateFacts): Promise<SandboxEstimate>
  close(): Promise<void>
}

const WAITING_OF_PROJECT = 20
/** Five times as long as the most expensive flow takes: a hundred exhausted evaluations of 20 ms each. */
const LIMIT_MS = 10_000
const MAX_MEGABYTES = 256

export function openEstimator({ onTrouble }: { onTrouble: (reason: unknown) => void }): Estimator {
  const program = new URL('./estimator-main.ts', import.meta.url)
  const thread = openWorkerThread<EstimateFacts, SandboxEstimate>({
    program,
    limitMs: LIMIT_MS,
    maxMegabytes: MAX_MEGABYTES,
    onTrouble,
  })
  const whenFull = () => refuse('overloaded', {})
  const one = openSemaphore({ permits: 1, maxWaiting: Infinity, whenFull })
  const projects = new Map<string, { semaphore: Semaphore; users: number }>()

  /** T2 */
  async function inTurnOf<T>(project: string, work: () => Promise<T>): Promise<T> {
    const its = projects.get(project) ?? {
      semaphore: openSemaphore({ permits: 1, maxWaiting: WAITING_OF_PROJECT, whenFull }),
      users: 0,
    }
    projects.set(project, its)
    its.users++
    try {
      return await its.semaphore.run(work)
    } finally {
      if (--its.users === 0) projects.delete(project)
    }
  }

  return {
    async estimate(facts) {
      const answer = await inTurnOf(facts.project, () => one.run(() => thread.ask(facts))) // T1
      if (answer === null) throw whenFull()
      return answer
    },
    close: () => thread.close(),
  }
}
