import { type StoppedBy, executionCancelled, type ExecutionStatus } from '@gateway/api/execution'
import type { ClaimItem, CompleteItem } from '@gateway/ledger-protocol/flow-items'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { advance } from '@gateway/flow/advance'
import type { Plan } from '@gateway/flow/plan'
import type { CancelItem, Granted, ItemOutcome, NodeItem, ReclaimItem } from './node-item.ts'
import {
  type Closing,
  type ExecutionChange,
  type ExecutionFacts,
  hasEnded,
  type NodeChange,
  type NodeFacts,
} from '../store/read-executions.ts'

// Decides what a batch of items does to one execution. Pure: works on one snapshot of the execution and all its nodes.
//   R1  Only the lease of its attempt ends a node. A worker that has lost its lease receives `fenced` and changes
//       nothing of the execution: the usage of its call is written off (write-executions.ts). A repeated completion
//       gets the same outcome again.
//   R2  A result is recorded once and never changes.
//   R3  Every end of a lease closes its reservation: usage is charged, the rest released. So an execution without a
//       lease has nothing reserved.
//   R4  Ends are applied before starts, regardless of the order of arrival: the ready nodes are decided once, from all
//       nodes, after every result of the batch; then nodes are chained and claimed.
//   R5  An execution that has started to fail grants no more leases. Running nodes may end; once none runs, the
//       execution is Failed.
//   R6  An execution has Succeeded when every node has ended and the output node succeeded. If the output node was
//       skipped, the execution has no output and fails.
//   R7  Every result and the end of the execution take the next progress number; nothing comes after the end.
//   R8  An attempt that died with its instance counts as a death; one that was given back does not. Both raise the
//       attempt, so that a job of the old attempt gets nothing.
//   R9  Past its deadline an execution starts to fail; nodes that still run after another GRACE_MS are failed here. This
//       takes no plan, so that an execution whose package cannot be read ends as well.
//   R10  A completion that names a lease for a next node is leased one free node that became ready because of it, in
//        the same write: this replaces a job. A paid node is always a job. A repeat returns the same node until that
//        has ended, even if the execution has started to fail, because the holder of a lease must learn of it. A repeat
//        is leased nothing else: its sender may have received a response since and be gone.
//   R11  A stop makes an execution start to fail and then end as Cancelled. It is applied after the results of its
//        batch: an execution that those results end was not stopped. A stop does not change one that has ended or is
//        failing.
//   R12  The first attempt at a free node is granted to the first delivery of its job without a record: it stays Ready,
//        and nothing is written. It may be computed twice, which costs nothing: the first result ends it, and later ones
//        are fenced. The claim that begins an execution is recorded if its result might come after the time in which a
//        node has to be claimed.
//   R13  A completion returns the free nodes that it made ready, granted as by R12: its sender runs the first delivery
//        of such a job without a claim.

/** Grace period for running nodes after the deadline: their workers know the deadline too and end them. */
const GRACE_MS = 15_000
/** Time that a free node whose claim is not recorded has to return its result. */
const UNRECORDED_MS = 15_000

/** All inputs of the decision. */
interface Situation {
  execution: ExecutionFacts
  plan: Plan
  /** Required fields of the output. */
  requiredOutputs: readonly string[]
  items: readonly NodeItem[]
  /** By the database's clock. */
  nowMs: number
  /** The live ones among the instances that claim nodes and those whose nodes are to be reclaimed. */
  alive: ReadonlySet<string>
  /** Returns an id for the paid call of a node that is claimed for the first time. */
  newCallId: () => string
}

/** Decides the items. Returns an outcome for each, in their order, and the change to be written; null: nothing. */
export function decideExecution(situation: Situation): { outcomes: ItemOutcome[]; change: ExecutionChange | null } {
  const { items } = situation
  const draft = draftOf(situation.execution)
  const outcomes: ItemOutcome[] = items.map(() => ({ kind: 'nothing-to-do' }))
  items.forEach((item, n) => {
    if (item.op === 'complete') outcomes[n] = complete(draft, situation, item)
    else if (item.op === 'reclaim') reclaim(draft, situation, item)
  })
  const isOverdue = items.some(({ op }) => op === 'overdue')
  if (isOverdue) overdue(draft, situation)
  if (isOverdue || draft.changed()) moveOn(draft, situation)
  items.forEach((item, n) => {
    if (item.op === 'cancel' && stop(draft, situation, item)) outcomes[n] = { kind: 'cancelled' }
  })
  items.forEach((item, n) => {
    if (item.op === 'complete' && outcomes[n]!.kind === 'completed') {
      const next = chainNode(draft, situation, item)
      if (next !== null) outcomes[n] = { kind: 'completed', next }
    }
  })
  items.forEach((item, n) => {
    if (item.op === 'claim') outcomes[n] = claim(draft, situation, item)
  })
  const ready = readyNodes(draft, situation)
  if (ready.length > 0)
    outcomes.forEach((outcome, n) => {
      if (outcome.kind === 'completed') outcomes[n] = { ...outcome, ready }
    })
  return { outcomes, change: draft.change() }
}

/** Decides an execution that only its deadline may end (R9). Returns the change to be written; null: nothing. */
export function decideOverdue(situation: Pick<Situation, 'execution' | 'nowMs'>): ExecutionChange | null {
  const draft = draftOf(situation.execution)
  overdue(draft, situation)
  endIfFailed(draft)
  return draft.change()
}

function complete(draft: ExecutionDraft, situation: Situation, item: CompleteItem): ItemOutcome {
  const { plan } = situation
  const ordinal = ordinalOf(plan, item.node)
  recordLease(draft, situation, item)
  const node = draft.node(ordinal)
  if (node?.lease !== item.lease) return { kind: 'fenced' } // R1
  if (node.state !== 'Running') return { kind: 'completed' } // R2
  const { result, measured } = item
  if (result.kind === 'given-back') {
    draft.requeueNode(ordinal, { died: false, reason: 'its worker gave it back' })
    return { kind: 'completed' }
  }
  draft.close(ordinal, item, 'its node ended without usage')
  if (result.kind === 'succeeded') {
    draft.endNode(ordinal, { state: 'Succeeded', output: result.output, ports: result.ports, measured })
    if (ordinal === plan.output) draft.setOutput(result.output)
  } else {
    draft.endNode(ordinal, { state: 'Failed', error: result.error, measured })
    draft.beginToFail(result.error)
  }
  return { kind: 'completed' }
}

/** R12. Leases the node to the sender of its result, as of the time when the sender began. */
function recordLease(draft: ExecutionDraft, { plan, alive }: Situation, item: CompleteItem): void {
  const { node: id, lease, instance, result, measured } = item
  const ordinal = ordinalOf(plan, id)
  if (instance === undefined || result.kind === 'given-back' || !alive.has(instance)) return
  if (draft.hasEnded() || draft.failing() || !mayBeUnrecorded(plan, ordinal, draft.node(ordinal))) return
  draft.leaseNode(ordinal, { lease, instance }, null)
  if (draft.status() === 'Admitted') draft.begin(Math.max(0, flowLimits.executionMs - measured.durationMs))
}

function reclaim(draft: ExecutionDraft, { plan, alive }: Situation, { node: id, lease, instance }: ReclaimItem): void {
  const ordinal = ordinalOf(plan, id)
  const node = draft.node(ordinal)
  if (node?.state !== 'Running' || node.lease !== lease || alive.has(instance)) return
  if (draft.failing() || node.deaths + 1 < flowLimits.attempts) {
    draft.requeueNode(ordinal, { died: true, reason: 'its instance ended' }) // R8
    return
  }
  const error = JSON.stringify(refuse('node_failed', { node: id }).body)
  draft.failNode(ordinal, error, 'its instance ended')
  draft.beginToFail(error)
}

/** R9 */
function overdue(draft: ExecutionDraft, { nowMs }: Pick<Situation, 'nowMs'>): void {
  if (draft.hasEnded() || draft.remainingMs(nowMs) > 0) return
  const started = draft.status() !== 'Admitted'
  const by = draft.stoppedBy()
  const error = by === null ? JSON.stringify(refuse('execution_timeout', { started }).body) : stopError(by)
  if (!draft.failing()) {
    draft.beginToFail(error)
    draft.setDeadline(GRACE_MS)
    return
  }
  for (const ordinal of draft.running()) draft.failNode(ordinal, error, 'its execution was over')
}

/** R11. Returns whether this item stopped the execution. */
function stop(draft: ExecutionDraft, situation: Situation, { by }: CancelItem): boolean {
  if (draft.hasEnded() || draft.failing()) return false
  draft.stop(stopError(by), by)
  draft.setDeadline(GRACE_MS)
  moveOn(draft, situation)
  return true
}

function stopError(by: StoppedBy): string {
  return JSON.stringify(executionCancelled(by).body)
}

/** R4, R5, R6 */
function moveOn(draft: ExecutionDraft, { plan, requiredOutputs }: Situation): void {
  if (draft.hasEnded()) return
  if (!draft.failing()) {
    const { ready, skipped } = advance(plan, draft.nodes())
    for (const ordinal of skipped) draft.skip(ordinal)
    for (const ordinal of ready) draft.makeReady(ordinal)
    if (draft.nodes().every(({ state }) => state === 'Succeeded' || state === 'Skipped')) {
      if (draft.node(plan.output)?.state === 'Succeeded') draft.succeed()
      else draft.beginToFail(JSON.stringify(refuse('output_missing', { fields: [...requiredOutputs] }).body))
    }
  }
  endIfFailed(draft)
}

/** R5 */
function endIfFailed(draft: ExecutionDraft): void {
  if (!draft.hasEnded() && draft.failing() && draft.running().length === 0) draft.fail()
}

/** R10 */
function chainNode(
  draft: ExecutionDraft,
  { plan, execution: facts, alive, nowMs }: Situation,
  { node: id, next: taker, result }: CompleteItem,
): Granted | null {
  if (!taker || result.kind !== 'succeeded') return null
  const remainingMs = draft.remainingMs(nowMs)
  const before = draft.nodes().findIndex(({ lease }) => lease === taker.lease)
  if (before >= 0) return draft.node(before)!.state === 'Running' ? { ordinal: before, remainingMs } : null
  const isRepeat = facts.nodes[ordinalOf(plan, id)]!.state === 'Succeeded'
  if (isRepeat || draft.hasEnded() || draft.failing() || remainingMs <= 0 || !alive.has(taker.instance)) return null // R5
  const ordinal = draft.madeReady().find((ready) => !plan.nodes[ready]!.paid)
  if (ordinal === undefined) return null
  draft.leaseNode(ordinal, taker, null)
  return { ordinal, remainingMs }
}

/** R13 */
function readyNodes(draft: ExecutionDraft, { plan, nowMs }: Situation): Granted[] {
  const remainingMs = draft.remainingMs(nowMs)
  if (remainingMs <= 0) return []
  const ready = draft.madeReady().filter((ordinal) => mayBeUnrecorded(plan, ordinal, draft.node(ordinal)))
  return ready.map((ordinal) => ({ ordinal, remainingMs, isUnrecorded: true }))
}

function claim(draft: ExecutionDraft, { plan, alive, nowMs, newCallId }: Situation, item: ClaimItem): ItemOutcome {
  const ordinal = ordinalOf(plan, item.node)
  const node = draft.node(ordinal)
  const by = draft.stoppedBy()
  if (by !== null) return { kind: 'nothing-to-do', cancelled: by } // R11
  if (!node || draft.hasEnded() || draft.failing() || draft.remainingMs(nowMs) <= 0) return { kind: 'nothing-to-do' } // R5
  const isAdmitted = draft.status() === 'Admitted'
  const isTimely = !isAdmitted || draft.remainingMs(nowMs) > UNRECORDED_MS
  if (item.isFirst && item.attempt === 1 && isTimely && mayBeUnrecorded(plan, ordinal, node)) {
    const remainingMs = isAdmitted ? flowLimits.executionMs : draft.remainingMs(nowMs)
    return { kind: 'claimed', ordinal, remainingMs, isUnrecorded: true } // R12
  }
  if (!alive.has(item.instance)) return { kind: 'instance-unknown' }
  if (node.state === 'Ready' && item.attempt >= node.attempt) {
    draft.leaseNode(ordinal, item, plan.nodes[ordinal]!.paid ? (node.call ?? newCallId()) : null)
    if (isAdmitted) draft.begin(flowLimits.executionMs)
  } else if (node.state !== 'Running' || node.lease !== item.lease) return { kind: 'nothing-to-do' } // R1
  return { kind: 'claimed', ordinal, remainingMs: draft.remainingMs(nowMs) }
}

/** R12. Later attempts are recorded, so that the deaths of a node that kills its workers are counted. */
function mayBeUnrecorded(plan: Plan, ordinal: number, node: NodeFacts | undefined): boolean {
  return node?.state === 'Ready' && node.attempt === 1 && !plan.nodes[ordinal]!.paid
}

function ordinalOf(plan: Plan, id: string): number {
  return plan.nodes.findIndex((node) => node.id === id)
}

// A draft holds an execution as read, plus the changes decided so far. Each method is one transition of docs/states.md
// and does not know the reason for it.

type End =
  | { state: 'Succeeded'; output: string; ports: string[]; measured: NodeChange['measured'] }
  | { state: 'Failed'; error: string; measured: NodeChange['measured'] }

/** What a completion says about the call of its node. */
type CalledNode = Pick<CompleteItem, 'usage' | 'timing' | 'costPico'>

export type ExecutionDraft = ReturnType<typeof draftOf>

function draftOf(execution: ExecutionFacts) {
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

  function close(ordinal: number, called: CalledNode | null, reason: string, perhapsCalled = false): void {
    const reservation = node(ordinal)?.reservation
    const { usage = null, timing, costPico } = called ?? {}
    if (reservation) closings.push({ reservation, usage, timing, costPico, reason, perhapsCalled })
  }

  /** Returns the nodes that became ready since the execution was read. */
  const madeReady = (): number[] => ordinalsIn('Ready').filter((ordinal) => execution.nodes[ordinal]!.state !== 'Ready')

  /** Returns how many queue places it has freed. A chained node takes the place of the node that ended. */
  function leftRoom(): number {
    const taking = (all: readonly NodeFacts[]) =>
      all.filter(({ state }) => state === 'Ready' || state === 'Running').length
    return taking(execution.nodes) - taking(nodes())
  }

  /** Sets its error if it has none; Ready → Pending */
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
    /** Until its deadline. */
    remainingMs: (nowMs: number) => deadlineInMs ?? execution.deadlineMs - nowMs,

    close: (ordinal: number, called: CalledNode, reason: string) => close(ordinal, called, reason),
    /** Running → Succeeded | Failed */
    endNode(ordinal: number, end: End): void {
      change(ordinal, { ...end, seq: ++seq })
    },
    /** Running → Failed, and revokes the lease: its holder is fenced. */
    failNode(ordinal: number, error: string, reason: string): void {
      close(ordinal, null, reason, true)
      change(ordinal, { state: 'Failed', error, lease: null, instance: null, seq: ++seq })
    },
    /** Running → Ready, or Pending if the execution is failing */
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
    /** Like beginToFail, because a key or a user stopped it. */
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

    /** Returns the change to be written; null: nothing. */
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
