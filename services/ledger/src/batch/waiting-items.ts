import type { AdmitItem, ReleaseItem, SettleItem } from '@gateway/contracts/ledger-items'
import type { AdmitOutcome, ReleaseOutcome, SettleOutcome, Undecided } from '@gateway/contracts/ledger-outcomes'

// What waits for the next batch.
//   W1  Closings (settle, release, expire) have room whatever waits besides them: they free money, and are never refused.
//   W2  Admissions take turns by bucket (a project, once its key is known), so one project's crowd costs another one turn.
//   W3  No id stands in one batch twice; the later one waits for the next.

/** Releases a reservation whose holder has ended or whose deadline is over; only keepers ask for it. */
export interface ExpireItem {
  op: 'expire'
  id: string
}
export type ClosingItem = SettleItem | ReleaseItem | ExpireItem
export type Outcome = AdmitOutcome | SettleOutcome | ReleaseOutcome | Undecided | { kind: 'alive' }

export interface Waiting<Item extends AdmitItem | ClosingItem = AdmitItem | ClosingItem> {
  item: Item
  /** Past this moment (of the process's own clock) the item is dropped undecided. */
  dropAtMs: number
  /** How often a batch has passed it over. */
  deferrals: number
  /** A batch with this item failed in a way that leaves open whether it was written. */
  ambiguous: boolean
  answer: (outcome: Outcome) => void
}

export interface Batch {
  admissions: Waiting<AdmitItem>[]
  closings: Waiting<ClosingItem>[]
}

interface Limits {
  items: number
  bytes: number
  /** Room that closings leave to admissions in a full batch. */
  admissionsAtLeast: number
}

export class WaitingItems {
  readonly #closings: Waiting<ClosingItem>[] = []
  readonly #buckets = new Map<string, Waiting<AdmitItem>[]>()
  #admissions = 0

  get admissions(): number {
    return this.#admissions
  }

  get size(): number {
    return this.#admissions + this.#closings.length
  }

  addClosing(waiting: Waiting<ClosingItem>): void {
    this.#closings.push(waiting)
  }

  addAdmission(bucket: string, waiting: Waiting<AdmitItem>): void {
    this.#admissions++
    const queue = this.#buckets.get(bucket)
    if (queue) queue.push(waiting)
    else this.#buckets.set(bucket, [waiting])
  }

  /** Takes what goes into the next batch. */
  take(limits: Limits): Batch {
    const taken = new Set<string>()
    const closings: Waiting<ClosingItem>[] = []
    const later: Waiting<ClosingItem>[] = []
    const most = this.#admissions > 0 ? limits.items - limits.admissionsAtLeast : limits.items
    let bytes = 0
    for (const waiting of this.#closings) {
      if (closings.length >= most || bytes >= limits.bytes || taken.has(waiting.item.id)) {
        later.push(waiting)
        continue
      }
      taken.add(waiting.item.id)
      closings.push(waiting)
      if (waiting.item.op === 'settle') bytes += waiting.item.answer?.body.length ?? 0
    }
    this.#closings.splice(0, this.#closings.length, ...later)
    return { closings, admissions: this.#takeAdmissions(limits.items - closings.length, taken) }
  }

  #takeAdmissions(most: number, taken: Set<string>): Waiting<AdmitItem>[] {
    const admissions: Waiting<AdmitItem>[] = []
    const twice: [string, Waiting<AdmitItem>][] = []
    while (admissions.length < most && this.#buckets.size > 0) {
      // One turn: the first of each bucket; what is left of a bucket goes to the end of the line.
      for (const [bucket, queue] of Array.from(this.#buckets)) {
        if (admissions.length >= most) break
        const waiting = queue.shift()!
        this.#buckets.delete(bucket)
        if (queue.length > 0) this.#buckets.set(bucket, queue)
        this.#admissions--
        if (taken.has(waiting.item.id)) twice.push([bucket, waiting])
        else {
          taken.add(waiting.item.id)
          admissions.push(waiting)
        }
      }
    }
    for (const [bucket, waiting] of twice) this.addAdmission(bucket, waiting)
    return admissions
  }
}
