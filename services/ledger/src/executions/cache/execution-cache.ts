import { LRUCache } from 'lru-cache'
import { hasEnded, type ExecutionChange, type ExecutionFacts } from '../store/execution-facts.ts'

// What this replica last read, wrote or began of executions that go on, so that the next batch about them needs no reading:
// optimistic concurrency by `version`.
//   M1  A snapshot may be old. What is decided from it counts when it has been written, which the version of the
//       execution allows only if nothing has changed (F1 of write_executions). What writes nothing is decided from a
//       reading.
//   M2  Where another replica works on the same executions snapshots are often old, and each old one costs a write for
//       nothing. An execution whose snapshot was old once is read from then on, and where many are, none is taken from
//       here for a while.
//   M3  An execution is dropped when it has ended, and whenever it is not known what came of a write.

export interface Snapshot {
  execution: ExecutionFacts
  /** Of nodes that have ended, as far as they are known: JSON text by ordinal. */
  outputs: Map<number, string>
}

export interface ExecutionCache {
  get(execution: string): Snapshot | null
  /** What its nodes are known to have answered: JSON text by ordinal. An output never changes. */
  outputsOf(execution: string): ReadonlyMap<number, string>
  /** Keeps an execution as it was read, with what was read of its outputs. */
  setRead(execution: ExecutionFacts, outputs: ReadonlyMap<number, string>): void
  /** Keeps an execution as it was written. */
  setWritten(change: ExecutionChange, version: number, nowMs: number): void
  delete(execution: string): void
  /** Notes whether a snapshot was still as the execution is (M2). */
  judge(execution: string, wasCurrent: boolean): void
}

interface Limits {
  maxExecutions: number
  /** Of outputs. */
  maxCharacters: number
}

/** M2: of so many snapshots no more may be old, or so many lookups find nothing. */
const JUDGED = { snapshots: 100, old: 10, pausedLookups: 2_000 }

export function openExecutionCache({ maxExecutions, maxCharacters }: Limits): ExecutionCache {
  const snapshots = new LRUCache<string, Snapshot>({
    max: maxExecutions,
    maxSize: maxCharacters,
    sizeCalculation: ({ outputs }) => [...outputs.values()].reduce((sum, text) => sum + text.length, 1),
  })
  const neverCached = new LRUCache<string, true>({ max: maxExecutions })
  let [judged, old, paused] = [0, 0, 0]

  function set(execution: ExecutionFacts, outputs: Map<number, string>): void {
    snapshots.delete(execution.id)
    if (!neverCached.has(execution.id)) snapshots.set(execution.id, { execution, outputs })
  }

  return {
    get(execution) {
      if (paused > 0) paused--
      return paused > 0 ? null : (snapshots.get(execution) ?? null)
    },
    outputsOf: (execution) => snapshots.peek(execution)?.outputs ?? new Map<number, string>(),
    setRead(execution, outputs) {
      const known = snapshots.peek(execution.id)?.outputs ?? [] // an output never changes
      if (!hasEnded(execution)) set(execution, new Map([...known, ...outputs]))
    },
    setWritten(change, version, nowMs) {
      const { execution, nodes } = change
      const outputs = snapshots.peek(execution.id)?.outputs ?? new Map<number, string>()
      if (hasEnded(change)) {
        neverCached.delete(execution.id)
        snapshots.delete(execution.id)
        return
      }
      for (const [ordinal, { output }] of nodes) if (output !== null) outputs.set(ordinal, output)
      set(afterwards(change, version, nowMs), outputs)
    },
    delete: (execution) => void snapshots.delete(execution),
    judge(execution, wasCurrent) {
      if (!wasCurrent) {
        snapshots.delete(execution)
        neverCached.set(execution, true)
        old++
      }
      if (++judged < JUDGED.snapshots) return
      if (old > JUDGED.old) paused = JUDGED.pausedLookups
      judged = old = 0
    },
  }
}

/** An execution as a reading would find it after this change. */
function afterwards(change: ExecutionChange, version: number, nowMs: number): ExecutionFacts {
  const { execution, status, seq, error, stoppedBy, deadlineInMs } = change
  return {
    ...execution,
    status,
    seq,
    version,
    failing: execution.failing || error !== null,
    stoppedBy,
    deadlineMs: deadlineInMs === null ? execution.deadlineMs : nowMs + deadlineInMs,
    nodes: execution.nodes.map((before, ordinal) => {
      const changed = change.nodes.get(ordinal)
      if (!changed) return before
      const { state, attempt, deaths, lease, instance, call, reservation, ports } = changed
      return { state, attempt, deaths, lease, instance, call, reservation, ports: state === 'Succeeded' ? ports : [] }
    }),
  }
}
