import type { ExecutionStatus } from '@gateway/contracts/execution'
import type { StoppedBy } from '@gateway/contracts/flow-items'
import {
  hasEnded,
  type Closing,
  type ExecutionChange,
  type ExecutionFacts,
  type NodeChange,
  type NodeFacts,
} from '../store/execution-facts.ts'

// An execution while it is decided about: what was read, and what has changed of it so far. Each step here is one
// transition of docs/states.md and knows nothing of why it is taken.

type End =
  | { state: 'Succeeded'; output: string; ports: string[]; measured: NodeChange['measured'] }
  | { state: 'Failed'; error: string; measured: NodeChange['measured'] }

export type ExecutionDraft = ReturnType<typeof draftOf>

export function draftOf(execution: ExecutionFacts) {
  const changes = new Map<number, NodeChange>()
  const closings: Closing[] = []
  let status: ExecutionStatus = execution.status
  let { seq, failing, stoppedBy } = execution
  let error: string | null = null
  let output: string | null = null
  let started = false
  let deadlineInMs: number | null = null

  const node = (ordinal: number): NodeFacts | undefined => changes.get(ordinal) ?? execution.nodes[ordinal]
  const nodes = (): NodeFacts[] => execution.nodes.map((read, ordinal) => changes.get(ordinal) ?? read)
  const ordinalsIn = (state: NodeFacts['state']): number[] =>
    execution.nodes.flatMap((_, ordinal) => (node(ordinal)!.state === state ? [ordinal] : []))

  function change(ordinal: number, to: Partial<NodeChange>): void {
    const ended = { seq: null, output: null, error: null, measured: null }
    changes.set(ordinal, { ...ended, ...node(ordinal)!, ...to })
  }

  function close(ordinal: number, usage: Closing['usage'], reason: string, perhapsCalled = false): void {
    const reservation = node(ordinal)?.reservation
    if (reservation) closings.push({ reservation, usage, reason, perhapsCalled })
  }

  /** Since it was read. */
  const madeReady = (): number[] => ordinalsIn('Ready').filter((ordinal) => execution.nodes[ordinal]!.state !== 'Ready')

  /** How many fewer of its nodes take room in the queue than before. One that is handed on takes the place of the one that ended. */
  function leftRoom(): number {
    const taking = (all: readonly NodeFacts[]) =>
      all.filter(({ state }) => state === 'Ready' || state === 'Running').length
    return taking(execution.nodes) - taking(nodes())
  }

  /** Sets its error, if it has none; Ready → Pending */
  function beginToFail(text: string, by: StoppedBy | null = null): void {
    if (failing) return
    failing = true
    error = text
    stoppedBy = by
    for (const ordinal of ordinalsIn('Ready')) change(ordinal, { state: 'Pending' })
  }

  return {
    node,
    nodes,
    status: () => status,
    failing: () => failing,
    stoppedBy: () => stoppedBy,
    hasEnded: () => hasEnded({ status }),
    running: () => ordinalsIn('Running'),
    madeReady,
    changed: () => changes.size > 0,
    deadlineInMs: () => deadlineInMs,

    close: (ordinal: number, usage: Closing['usage'], reason: string) => close(ordinal, usage, reason),
    /** Running → Succeeded | Failed */
    endNode(ordinal: number, end: End): void {
      change(ordinal, { ...end, seq: ++seq })
    },
    /** Running → Failed, without its lease: whoever had it is fenced. */
    failNode(ordinal: number, error: string, reason: string): void {
      close(ordinal, null, reason, true)
      change(ordinal, { state: 'Failed', error, lease: null, instance: null, seq: ++seq })
    },
    /** Running → Ready, or Pending where nothing begins any more */
    requeueNode(ordinal: number, { died, reason }: { died: boolean; reason: string }): void {
      close(ordinal, null, reason, true)
      const { attempt, deaths } = node(ordinal)!
      change(ordinal, {
        state: failing ? 'Pending' : 'Ready',
        lease: null,
        instance: null,
        reservation: null,
        attempt: attempt + 1,
        deaths: died ? deaths + 1 : deaths,
      })
    },
    /** Ready → Running */
    leaseNode(ordinal: number, { lease, instance }: { lease: string; instance: string }, call: string | null): void {
      const { attempt } = node(ordinal)!
      const reservation = call === null ? null : attempt === 1 ? call : `${call}-${attempt}`
      change(ordinal, { state: 'Running', lease, instance, call, reservation })
    },
    /** Pending → Ready */
    makeReady: (ordinal: number) => change(ordinal, { state: 'Ready' }),
    /** Pending → Skipped */
    skip: (ordinal: number) => change(ordinal, { state: 'Skipped' }),

    /** Admitted → Running */
    begin(forMs: number): void {
      status = 'Running'
      started = true
      deadlineInMs = forMs
    },
    setDeadline: (inMs: number) => void (deadlineInMs = inMs),
    setOutput: (text: string) => void (output = text),
    beginToFail: (text: string) => beginToFail(text),
    /** The same, because somebody wants it to end. */
    stop: (text: string, by: StoppedBy) => beginToFail(text, by),
    /** Running → Succeeded */
    succeed(): void {
      status = 'Succeeded'
      seq++
    },
    /** Admitted | Running → Failed | Cancelled */
    fail(): void {
      status = stoppedBy === null ? 'Failed' : 'Cancelled'
      seq++
    },

    /** What is to be written; null: nothing. */
    change(): ExecutionChange | null {
      if (changes.size === 0 && error === null && status === execution.status) return null
      const ending = error !== null && !hasEnded({ status })
      return {
        execution,
        status,
        seq,
        error,
        output,
        started,
        deadlineInMs,
        nodes: changes,
        closings,
        stoppedBy,
        ending,
        enqueues: madeReady().length > 0 || leftRoom() > 0,
      }
    },
  }
}
