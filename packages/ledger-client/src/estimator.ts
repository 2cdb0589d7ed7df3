import type { EstimateFacts, SandboxEstimate } from '@gateway/api/estimate'
import { refuse } from '@gateway/api/refusal'
import { openSemaphore, type Semaphore } from '@gateway/service-kit/async/semaphore'
import { openWorkerThread } from '@gateway/service-kit/async/worker-thread'

// Estimates run the expressions of a flow (money §7.6), for callers without funds too.
//   T1  They run in one thread of low priority, so that no number of them delays other requests.
//   T2  A project has one estimate in turn, from its question to the ledger until its answer. So another project waits
//       for one estimate of each busy project, in the ledger and in the thread.
//   T3  A project has a bounded number of estimates, from before anything is read for them. So those beyond it cost
//       neither a body nor a question to the ledger.

export interface Estimator {
  /**
   * @param readQuestion called if the project has room (T3)
   * @param readFacts asks the ledger, when it is the turn of this estimate (T2)
   * @throws Refusal `overloaded` if the project has too many estimates, or this one takes too long; the errors of
   * `readQuestion` and `readFacts`
   */
  estimate<Question>(
    project: string,
    readQuestion: () => Promise<Question>,
    readFacts: (question: Question) => Promise<EstimateFacts>,
  ): Promise<SandboxEstimate>
  close(): Promise<void>
}

/** One in turn, the others wait. */
const MAX_OF_PROJECT = 21
/** Fifteen times as long as the most expensive flow takes: a hundred exhausted evaluations of 20 ms each. */
const LIMIT_MS = 30_000
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
  const projects = new Map<string, { turn: Semaphore; estimates: number }>()

  return {
    async estimate(project, readQuestion, readFacts) {
      const its = projects.get(project) ?? {
        turn: openSemaphore({ permits: 1, maxWaiting: Infinity, whenFull }),
        estimates: 0,
      }
      if (its.estimates >= MAX_OF_PROJECT) throw whenFull() // T3
      projects.set(project, its)
      its.estimates++
      try {
        const question = await readQuestion()
        const answer = await its.turn.run(async () => {
          const facts = await readFacts(question)
          return one.run(() => thread.ask(facts)) // T1
        })
        if (answer === null) throw whenFull()
        return answer
      } finally {
        if (--its.estimates === 0) projects.delete(project)
      }
    },
    close: () => thread.close(),
  }
}
