import type { Span } from '@opentelemetry/api'
import { WaitingLine } from '@gateway/service-kit/async/batcher'
import type { AdmitNodeItem } from '@gateway/ledger-protocol/flow-items'
import type { AdmitItem, ReleaseItem, SettleItem } from '@gateway/ledger-protocol/ledger-items'
import type {
  AdmitNodeOutcome,
  AdmitOutcome,
  ReleaseOutcome,
  SettleOutcome,
  Undecided,
} from '@gateway/ledger-protocol/ledger-outcomes'
import { LRUCache } from 'lru-cache'

// Items that wait for the next batch.
//   W1  Closings (settle, release, expire) always have room: they free money, and are never refused.
//   W2  Admissions take turns by project, so one project's crowd costs another one turn. Unidentified callers (keys and
//       executions whose project is not known here, because they are new or invented) take turns individually in a
//       separate share: a flood of invented keys leaves the rest of each batch to the projects, and a new key gets in
//       however many projects there are.
//   W3  An id is never in one batch twice; the later item waits for the next batch.
//   W4  A closing that is repeated while it waits takes no more room: it may carry a saved answer of 1 MB. The first
//       one counts (architecture §5), and both get its outcome.
//   W5  An item past its time is dropped, even while a batch holds up all others.

/** Releases a reservation whose instance has ended or whose deadline has passed; only maintenance submits it. */
export interface ExpireItem {
  op: 'expire'
  id: string
}
export type ClosingItem = SettleItem | ReleaseItem | ExpireItem
/** Admission of a direct call, by a key, or of a node, by its execution. */
export type AdmissionItem = AdmitItem | AdmitNodeItem
export type Outcome = AdmitOutcome | AdmitNodeOutcome | SettleOutcome | ReleaseOutcome | Undecided | { kind: 'alive' }

export interface Waiting<Item extends AdmissionItem | ClosingItem = AdmissionItem | ClosingItem> {
  item: Item
  /** Absent if its caller is not traced. */
  span?: Span | undefined
  /** Start of its wait for a batch, by the process's monotonic clock, like `dropAtMs`. */
  sinceMs: number
  /** Time at which the item is dropped undecided. */
  dropAtMs: number
  /** Number of batches that have passed it over. */
  deferrals: number
  /** A batch with this item failed without showing whether it was written. */
  outcomeUnknown: boolean
  /** Its lost reservation was restored, or turned out not to be lost. */
  isRestored?: boolean
  /** Project of its reservation, once looked up; null if there is none. */
  project?: string | null
  answer: (outcome: Outcome) => void
  /** Answers its copies (W4). */
  copies?: ((outcome: Outcome) => void)[]
}

export interface Batch {
  admissions: Waiting<AdmissionItem>[]
  closings: Waiting<ClosingItem>[]
}

interface Limits {
  items: number
  bytes: number
  /** Room that closings leave to admissions in a full batch. */
  admissionsAtLeast: number
}

interface Options {
  /** Monotonic milliseconds. */
  now: () => number
  /** Receives the items that are past their time. */
  drop: (waiting: Waiting) => void
}

export class WaitingItems {
  readonly #options: Options
  readonly #closings: WaitingLine<Waiting<ClosingItem>>
  readonly #projects = new FairQueue<Waiting<AdmissionItem>>()
  readonly #unidentified = new FairQueue<Waiting<AdmissionItem>>()

  constructor(options: Options) {
    this.#options = options
    this.#closings = new WaitingLine<Waiting<ClosingItem>>({
      nameOf: ({ item: { op, id } }) => `${op} ${id}`,
      join: joinCopy, // W4
      dropAtMs: ({ dropAtMs }) => dropAtMs,
      ...options,
    })
  }

  get admissions(): number {
    return this.#projects.size + this.#unidentified.size
  }

  /** Number of admissions whose caller's project is not known yet. */
  get unidentified(): number {
    return this.#unidentified.size
  }

  get size(): number {
    return this.admissions + this.#closings.size
  }

  /** How long the oldest item has waited, in milliseconds; 0 if none waits. */
  get oldestMs(): number {
    const nowMs = this.#options.now()
    let oldestMs = this.#closings.oldestMs
    for (const queue of [this.#projects, this.#unidentified])
      for (const { sinceMs } of queue.heads()) oldestMs = Math.max(oldestMs, nowMs - sinceMs)
    return oldestMs
  }

  addClosing(waiting: Waiting<ClosingItem>): void {
    this.#closings.add(waiting)
  }

  /** @param project of its key or execution; null: not known yet */
  addAdmission(project: string | null, waiting: Waiting<AdmissionItem>): void {
    if (project === null) this.#unidentified.add(callerOf(waiting.item), waiting)
    else this.#projects.add(project, waiting)
  }

  /** Gives the items of this key or execution their turns with the project from now on. */
  introduce(caller: string, project: string): void {
    for (const waiting of this.#unidentified.takeQueue(caller)) this.#projects.add(project, waiting)
  }

  /** W5 */
  dropLate(): void {
    const nowMs = this.#options.now()
    this.#closings.dropLate()
    for (const queue of [this.#projects, this.#unidentified])
      for (const waiting of queue.remove(({ dropAtMs }) => nowMs >= dropAtMs)) this.#options.drop(waiting)
  }

  /** Takes the items of the next batch. */
  take(limits: Limits): Batch {
    const taken = new Set<string>()
    let bytes = 0
    const maxClosings = this.admissions > 0 ? limits.items - limits.admissionsAtLeast : limits.items
    const closings = this.#closings.take(maxClosings, ({ item }) => {
      if (bytes >= limits.bytes || taken.has(item.id)) return false
      taken.add(item.id)
      if (item.op === 'settle') bytes += item.answer?.body.length ?? 0
      return true
    })
    const fits = ({ item }: Waiting<AdmissionItem>) => !taken.has(item.id) && taken.add(item.id) !== undefined
    const room = limits.items - closings.length
    const forUnidentified = Math.max(Math.ceil(room * UNIDENTIFIED_SHARE), room - this.#projects.size)
    const unidentified = this.#unidentified.take(forUnidentified, fits)
    return { closings, admissions: [...this.#projects.take(room - unidentified.length, fits), ...unidentified] }
  }
}

/** Caller of an item: the hash of a key or the id of an execution, which are never equal. */
export function callerOf(item: AdmissionItem): string {
  return item.op === 'admit' ? item.keyHash : item.execution
}

/** Share of unidentified callers in a batch that would be full without them. */
const UNIDENTIFIED_SHARE = 0.25

export function isAdmission(item: AdmissionItem | ClosingItem): item is AdmissionItem {
  return item.op === 'admit' || item.op === 'admit-node'
}

/** A fair queue: its queues take turns. Each gives its first item, and goes to the end with the rest. */
class FairQueue<T> {
  readonly #queues = new Map<string, T[]>()
  #size = 0

  /** Items in all queues. */
  get size(): number {
    return this.#size
  }

  add(name: string, item: T): void {
    this.#size++
    const queue = this.#queues.get(name)
    if (queue) queue.push(item)
    else this.#queues.set(name, [item])
  }

  /** Takes at most `max` items. An item that doesn't fit stays, and its queue loses the turn. */
  take(max: number, fits: (item: T) => boolean): T[] {
    const taken: T[] = []
    const stay: [string, T][] = []
    for (const [name, queue] of this.#queues) {
      if (taken.length >= max) break
      const item = queue.shift()!
      this.#size--
      this.#queues.delete(name)
      if (queue.length > 0) this.#queues.set(name, queue) // iterating a map includes entries that are set meanwhile
      if (fits(item)) taken.push(item)
      else stay.push([name, item])
    }
    for (const [name, item] of stay) this.add(name, item)
    return taken
  }

  /** The first item of each queue, which has waited longest in it. */
  *heads(): Iterable<T> {
    for (const [first] of this.#queues.values()) yield first!
  }

  /** Removes the items that are to leave, regardless of turns. */
  remove(leaves: (item: T) => boolean): T[] {
    const removed: T[] = []
    for (const [name, queue] of this.#queues) {
      const leaving = queue.filter(leaves)
      if (leaving.length === 0) continue
      removed.push(...leaving)
      if (leaving.length === queue.length) this.#queues.delete(name)
      else
        this.#queues.set(
          name,
          queue.filter((item) => !leaves(item)),
        )
    }
    this.#size -= removed.length
    return removed
  }

  /** Removes a whole queue from the rotation. */
  takeQueue(name: string): T[] {
    const queue = this.#queues.get(name) ?? []
    this.#queues.delete(name)
    this.#size -= queue.length
    return queue
  }
}

// Projects of the keys and executions that this replica has seen. Neither ever changes its project; evicting one costs
// it a turn.

export interface ProjectCache {
  get(item: AdmissionItem): string | null
  /** Returns whether it was new. */
  add(item: AdmissionItem, project: string): boolean
  /** Returns whether it was new. */
  addExecution(execution: string, project: string): boolean
}

const MAX_ENTRIES = 50_000

export function openProjectCache(): ProjectCache {
  const byKey = new LRUCache<string, string>({ max: MAX_ENTRIES })
  const byExecution = new LRUCache<string, string>({ max: MAX_ENTRIES }) // separate, to evict no keys

  function add(cache: LRUCache<string, string>, caller: string, project: string): boolean {
    if (cache.has(caller)) return false
    cache.set(caller, project)
    return true
  }

  return {
    get: (item) => (item.op === 'admit' ? byKey.get(item.keyHash) : byExecution.get(item.execution)) ?? null,
    add: (item, project) =>
      item.op === 'admit' ? add(byKey, item.keyHash, project) : add(byExecution, item.execution, project),
    addExecution: (execution, project) => add(byExecution, execution, project),
  }
}

interface Waits<Outcome> {
  dropAtMs: number
  deferrals: number
  outcomeUnknown: boolean
  answer: (outcome: Outcome) => void
  /** Answers its copies, which may be large and are not kept. */
  copies?: ((outcome: Outcome) => void)[]
}

/** Makes the first of two items with one id answer both, and wait for as long as either may. */
export function joinCopy<Outcome>(first: Waits<Outcome>, copy: Waits<Outcome>): void {
  const { answer, copies = [] } = first
  if (first.copies === undefined)
    first.answer = (outcome) => {
      answer(outcome)
      for (const answerCopy of copies) answerCopy(outcome)
    }
  first.copies = copies
  copies.push(copy.answer)
  first.dropAtMs = Math.max(first.dropAtMs, copy.dropAtMs)
  first.deferrals = Math.max(first.deferrals, copy.deferrals)
  first.outcomeUnknown ||= copy.outcomeUnknown
}
