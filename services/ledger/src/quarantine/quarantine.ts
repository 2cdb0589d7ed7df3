import { LRUCache } from 'lru-cache'
import { backOffMs } from '@gateway/service-kit/async/waiting'

// Remembers what Postgres refused for no business reason, so that it does not fail the batch of others again.
//   A1  An item that was refused alone is remembered by its id. If several of one group were (the closings of a
//       project, or its admissions), the whole group is, with everything else in it.
//   A2  A remembered item joins no batch. It is tried alone: at most one try a second in the whole process until one
//       succeeds, and each id and group after a separate back-off of up to minutes. In between it is answered at once.
//   A3  After `GIVE_UP_AFTER` refusals it is given up: its sender is asked to stop.
//   A4  A try that succeeds forgets the id, its group, and everything remembered of that group. If it wrote
//       nothing that its group shares, such as the wallet, the group and its ids stay remembered.
//   A5  A batch that ran out of time is repeated. If an item of it was in such a batch before, the batch is split, and
//       an item that runs out of time alone is refused like any other.
//   A6  Correctness does not depend on this memory. Forgetting something, because it is old or because there is too
//       much of it, costs a batch that is split.

/** The closings or the admissions of a project. */
export type Group = `${'closings' | 'admissions'} ${string}`

export interface Remembered {
  /** A3 */
  givenUp: boolean
  /** Last error from Postgres. */
  error: string
}

export interface Quarantine {
  /** Returns what is remembered of an item; null: it joins the batches. */
  find(id: string, groups?: readonly Group[]): Remembered | null
  /** Whether it may be tried alone now. The caller must then try it: nothing else may be tried in this second (A2). */
  mayTry(id: string, groups?: readonly Group[]): boolean
  /** Records that it was refused alone. */
  refused(id: string, group: Group | null, error: unknown): void
  /** Records that it is in this group and shares its state. */
  belongs(id: string, group: Group): void
  /**
   * Records that it was decided (A4).
   * @param wroteShared whether that wrote what its group shares
   */
  decided(id: string, wroteShared: boolean): void
  /** Kept items (kept-items.ts) that this replica knows to be stored. */
  kept: Pick<Set<string>, 'has' | 'delete'> & { add(name: string): void }
  /** Records that a batch of these ran out of time. Returns whether to split it (A5). */
  ranOutOfTime(ids: readonly string[]): boolean
}

interface Entry {
  failures: number
  tryAtMs: number
  error: string
  /** Refused ids of a group; empty for an id. */
  ids: Set<string>
}

const GIVE_UP_AFTER = 3
/** A group is remembered itself once this many of its ids were refused. */
const IDS_OF_GROUP = 3
const TRY_EVERY_MS = 1_000
const BACK_OFF = { firstMs: 1_000, maxMs: 120_000 }
const REMEMBERED = { max: 20_000, ttlMs: 900_000 }
const ERROR_CHARACTERS = 500

export function openQuarantine({ now }: { now: () => number }): Quarantine {
  const options = { max: REMEMBERED.max, ttl: REMEMBERED.ttlMs, perf: { now }, ttlResolution: 0 }
  const entries = new LRUCache<string, Entry>(options)
  const groupOf = new LRUCache<string, Group>(options)
  const slow = new LRUCache<string, true>(options)
  const kept = new LRUCache<string, true>(options)
  let nextTryMs = -Infinity

  /** Entries of the id and its groups. */
  function entriesOf(id: string, groups: readonly Group[]): Entry[] {
    const own = groupOf.get(id)
    const names = new Set([id, ...groups, ...(own === undefined ? [] : [own])])
    return [...names].flatMap((name) => {
      const entry = entries.get(name)
      return entry === undefined || (name !== id && entry.ids.size < IDS_OF_GROUP) ? [] : [entry]
    })
  }

  function count(name: string, error: string): Entry {
    const entry = entries.get(name) ?? { failures: 0, tryAtMs: 0, error, ids: new Set() }
    entry.failures++
    entry.tryAtMs = now() + backOffMs(entry.failures, BACK_OFF)
    entry.error = error
    entries.set(name, entry) // restarts its time
    return entry
  }

  function forget(name: string): void {
    for (const id of entries.get(name)?.ids ?? []) forget(id)
    entries.delete(name)
    groupOf.delete(name)
  }

  return {
    find(id, groups = []) {
      if (entries.size === 0) return null // nearly always
      const found = entriesOf(id, groups)
      if (found.length === 0) return null
      const worst = found.reduce((a, b) => (b.failures > a.failures ? b : a))
      return { givenUp: worst.failures >= GIVE_UP_AFTER, error: worst.error }
    },
    mayTry(id, groups = []) {
      const nowMs = now()
      if (nowMs < nextTryMs || entriesOf(id, groups).some(({ tryAtMs }) => nowMs < tryAtMs)) return false
      nextTryMs = nowMs + TRY_EVERY_MS
      return true
    },
    refused(id, group, error) {
      const text = (error instanceof Error ? error.message : String(error)).slice(-ERROR_CHARACTERS)
      count(id, text)
      if (group === null) return
      groupOf.set(id, group)
      count(group, text).ids.add(id)
    },
    belongs(id, group) {
      groupOf.set(id, group)
    },
    decided(id, wroteShared) {
      const group = groupOf.get(id)
      nextTryMs = -Infinity
      if (group !== undefined && !wroteShared && entries.has(group)) return
      forget(id)
      if (group !== undefined) forget(group)
    },
    kept: {
      has: (name) => kept.has(name),
      add: (name) => void kept.set(name, true),
      delete: (name) => kept.delete(name),
    },
    ranOutOfTime(ids) {
      const before = ids.some((id) => slow.has(id))
      for (const id of ids) slow.set(id, true)
      return before
    },
  }
}
