import type { ExecutionChange, ExecutionFacts } from './run-facts.ts'

// What this replica last read or wrote of runs that go on, so that the next batch about them needs no reading.
//   M1  What is remembered may be old. It is only ever a guess: what is decided from it counts when it has been written, which the
//       version of the run allows only if it was right (F1 of write_executions_v1). What writes nothing is decided from a reading.
//   M2  Where another replica works on the same runs guesses are often wrong, and each wrong one costs a write for nothing. A run that
//       was guessed wrong once is read from then on, and where many are, none is guessed for a while.
//   M3  A run is forgotten when it has ended, and whenever it is not known what came of a write.

/** Of one run. */
export interface RememberedExecution {
  execution: ExecutionFacts
  /** Of nodes that have ended, as far as they are known: JSON text by ordinal. */
  outputs: Map<number, string>
}

export interface ExecutionMemory {
  recall(execution: string): RememberedExecution | null
  /** As it was read, with what was read of its outputs. */
  read(execution: ExecutionFacts, outputs: ReadonlyMap<number, string>): void
  /** As it was written. */
  wrote(change: ExecutionChange, version: number, nowMs: number): void
  forget(execution: string): void
  /** A guess about this run turned out right or wrong (M2). */
  judge(execution: string, wasRight: boolean): void
}

interface Entry extends RememberedExecution {
  characters: number
}

/** M2: of so many guesses not more may be wrong, or so many recollections are passed over. */
const JUDGED = { guesses: 100, wrong: 10, pause: 2_000 }

export function openExecutionMemory({
  mostExecutions,
  mostCharacters,
}: {
  mostExecutions: number
  mostCharacters: number
}): ExecutionMemory {
  const entries = new Map<string, Entry>()
  const wrongOnce = new Set<string>()
  let characters = 0
  let [guesses, wrong, pause] = [0, 0, 0]

  function forget(execution: string): void {
    characters -= entries.get(execution)?.characters ?? 0
    entries.delete(execution)
  }

  function keep(execution: ExecutionFacts, outputs: Map<number, string>): void {
    forget(execution.id)
    if (wrongOnce.has(execution.id)) return
    const weight = [...outputs.values()].reduce((sum, text) => sum + text.length, 0)
    entries.set(execution.id, { execution, outputs, characters: weight }) // used last
    characters += weight
    for (const oldest of entries.keys()) {
      if (entries.size <= mostExecutions && characters <= mostCharacters) break
      forget(oldest)
    }
  }

  function hasEnded({ status }: Pick<ExecutionFacts, 'status'>): boolean {
    return status === 'Succeeded' || status === 'Failed'
  }

  return {
    recall(execution) {
      if (pause > 0) pause--
      return pause > 0 ? null : (entries.get(execution) ?? null)
    },
    read(execution, outputs) {
      const known = entries.get(execution.id)?.outputs ?? [] // an output never changes
      if (!hasEnded(execution)) keep(execution, new Map([...known, ...outputs]))
    },
    wrote(change, version, nowMs) {
      const { execution, nodes } = change
      const outputs = entries.get(execution.id)?.outputs ?? new Map<number, string>()
      if (hasEnded(change)) {
        wrongOnce.delete(execution.id)
        return forget(execution.id)
      }
      for (const [ordinal, { output }] of nodes) if (output !== null) outputs.set(ordinal, output)
      keep(afterwards(change, version, nowMs), outputs)
    },
    forget,
    judge(execution, wasRight) {
      if (!wasRight) {
        forget(execution)
        if (wrongOnce.size >= mostExecutions) wrongOnce.clear()
        wrongOnce.add(execution)
        wrong++
      }
      if (++guesses < JUDGED.guesses) return
      if (wrong > JUDGED.wrong) pause = JUDGED.pause
      guesses = wrong = 0
    },
  }
}

/** A run as a reading would find it after this change. */
function afterwards(change: ExecutionChange, version: number, nowMs: number): ExecutionFacts {
  const { execution, status, seq, error, deadlineInMs } = change
  return {
    ...execution,
    status,
    seq,
    version,
    failing: execution.failing || error !== null,
    deadlineMs: deadlineInMs === null ? execution.deadlineMs : nowMs + deadlineInMs,
    nodes: execution.nodes.map((before, ordinal) => {
      const changed = change.nodes.get(ordinal)
      if (!changed) return before
      const { state, attempt, deaths, lease, instance, call, reservation, ports } = changed
      return { state, attempt, deaths, lease, instance, call, reservation, ports: state === 'Succeeded' ? ports : [] }
    }),
  }
}
