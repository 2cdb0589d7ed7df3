import { refuse } from '@gateway/contracts/refusal'

// Calls that wait for the ledger's decision. What waits there is waiting for processors and disks, not for a model, so a long
// queue helps nobody: everybody in it is late, and who comes next will be later. Beyond `most` the next one is refused.

export interface AdmissionQueueLimit {
  /** @throws Refusal `overloaded` where it is full: before a call is read, and again before it is asked for */
  refuseIfFull(): void
  /** Counts work that waits. */
  during<T>(work: () => Promise<T>): Promise<T>
}

export function openAdmissionQueueLimit(most: number): AdmissionQueueLimit {
  let waiting = 0
  return {
    refuseIfFull() {
      if (waiting >= most) throw refuse('overloaded', {})
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
