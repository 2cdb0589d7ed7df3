import { refuse } from '@gateway/contracts/refusal'

// Calls that wait for the ledger's decision. They wait for processors and disks, not for a model, so a long queue helps
// nobody: all calls in it are late, and the next one will be later. When `maxWaiting` calls wait, the next one is
// refused.

export interface AdmissionQueueLimit {
  /**
   * @throws Refusal `overloaded` where the queue is full: checked before a call is read, and again before the ledger is
   * asked
   */
  refuseIfFull(): void
  /** Counts work that waits. */
  during<T>(work: () => Promise<T>): Promise<T>
}

export function openAdmissionQueueLimit(maxWaiting: number): AdmissionQueueLimit {
  let waiting = 0
  return {
    refuseIfFull() {
      if (waiting >= maxWaiting) throw refuse('overloaded', {})
    },
    async during(work) {
      waiting++
      try {
        return await work()
      } finally {
        waiting--
      }
    },
  }
}
