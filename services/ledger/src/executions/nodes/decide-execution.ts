import type { ClaimItem, CompleteItem } from '@gateway/contracts/flow-items'
import { flowLimits } from '@gateway/contracts/limits'
import { refuse } from '@gateway/contracts/refusal'
import { advance } from '@gateway/flow/advance'
import type { Plan } from '@gateway/flow/plan'
import type { FlowItem, ItemOutcome, ReclaimItem } from './node-item.ts'
import { changeableExecution, type ChangeableExecution } from './execution-draft.ts'
import type { ExecutionChange, ExecutionFacts } from '../store/execution-facts.ts'

// What a batch of items does to one run: pure, from what was read of the run and all its nodes at one moment.
//   R1  Only the lease of its attempt ends a node. Who lost it changes nothing and is told so; who repeats itself hears the same.
//   R2  A result is recorded once, and then stays.
//   R3  Whatever ends a lease closes its reservation: usage is charged, all else released. So a run without a lease holds nothing.
//   R4  Ends come before beginnings, whatever the order of arrival: what may run now is decided once, from all nodes, when every
//       result of the batch is known; claims are last.
//   R5  A run that begins to fail gives no lease any more. What runs may end; when nothing does, the run is Failed.
//   R6  A run has Succeeded when every node has ended and the output node succeeded. The output node skipped is a run without output.
//   R7  Every result and the end of the run take the next number of progress; nothing comes after the end.
//   R8  An attempt that died with its instance counts as a death; one that was given back does not. Both raise the attempt, so that a
//       job of the old one gets nothing.
//   R9  Past its deadline a run begins to fail; what still runs after GRACE_MS more is ended from here.

/** For nodes that run when the deadline is over: their workers know it too, and end them by themselves. */
const GRACE_MS = 15_000

interface Scene {
  execution: ExecutionFacts
  plan: Plan
  /** Fields that the output must have. */
  requiredOutputs: readonly string[]
  items: readonly FlowItem[]
  /** By the database's clock. */
  nowMs: number
  /** Instances of the claims that live, and those of the nodes that are to be reclaimed. */
  living: ReadonlySet<string>
  /** An id for the paid call of a node that is claimed for the first time. */
  mintCall: () => string
}

/** Decides what the items do. Answers an outcome each, in their order, and what is to be written; null: nothing. */
export function decideExecution(scene: Scene): { outcomes: ItemOutcome[]; change: ExecutionChange | null } {
  const execution = changeableExecution(scene.execution)
  const outcomes: ItemOutcome[] = scene.items.map(() => ({ kind: 'nothing-to-do' }))
  scene.items.forEach((item, n) => {
    if (item.op === 'complete') outcomes[n] = complete(execution, scene, item)
    else if (item.op === 'reclaim') reclaim(execution, scene, item)
  })
  const isOverdue = scene.items.some(({ op }) => op === 'overdue')
  if (isOverdue) overdue(execution, scene)
  if (isOverdue || execution.changed()) moveOn(execution, scene)
  scene.items.forEach((item, n) => {
    if (item.op === 'claim') outcomes[n] = claim(execution, scene, item)
  })
  return { outcomes, change: execution.change() }
}

function complete(execution: ChangeableExecution, { plan }: Scene, item: CompleteItem): ItemOutcome {
  const ordinal = ordinalOf(plan, item.node)
  const node = execution.node(ordinal)
  if (node?.lease !== item.lease) return { kind: 'fenced' } // R1
  if (node.state !== 'Running') return { kind: 'completed' } // R2
  const { result, durationMs, remoteMs } = item
  if (result.kind === 'given-back') {
    execution.takeBack(ordinal, { died: false, reason: 'its worker gave it back' })
    return { kind: 'completed' }
  }
  execution.close(ordinal, item.usage, 'its node ended without usage')
  if (result.kind === 'succeeded') {
    execution.end(ordinal, { state: 'Succeeded', output: result.output, ports: result.ports, durationMs, remoteMs })
    if (ordinal === plan.output) execution.setOutput(result.output)
  } else {
    execution.end(ordinal, { state: 'Failed', error: result.error, durationMs, remoteMs })
    execution.beginToFail(result.error)
  }
  return { kind: 'completed' }
}

function reclaim(
  execution: ChangeableExecution,
  { plan, living }: Scene,
  { node: id, lease, instance }: ReclaimItem,
): void {
  const ordinal = ordinalOf(plan, id)
  const node = execution.node(ordinal)
  if (node?.state !== 'Running' || node.lease !== lease || living.has(instance)) return
  if (execution.failing() || node.deaths + 1 < flowLimits.attempts) {
    execution.takeBack(ordinal, { died: true, reason: 'its instance ended' }) // R8
    return
  }
  const error = JSON.stringify(refuse('node_failed', { node: id }).body)
  execution.giveUp(ordinal, error, 'its instance ended')
  execution.beginToFail(error)
}

/** R9 */
function overdue(execution: ChangeableExecution, { nowMs, execution: { deadlineMs } }: Scene): void {
  if (execution.over() || nowMs < deadlineMs) return
  const started = execution.status() !== 'Admitted'
  const error = JSON.stringify(refuse('execution_timeout', { started }).body)
  if (!execution.failing()) {
    execution.beginToFail(error)
    execution.setDeadline(GRACE_MS)
    return
  }
  for (const ordinal of execution.running()) execution.giveUp(ordinal, error, 'its run was over')
}

/** R4, R5, R6 */
function moveOn(execution: ChangeableExecution, { plan, requiredOutputs }: Scene): void {
  if (execution.over()) return
  if (!execution.failing()) {
    const { ready, skipped } = advance(plan, execution.nodes())
    for (const ordinal of skipped) execution.skip(ordinal)
    for (const ordinal of ready) execution.makeReady(ordinal)
    if (execution.nodes().every(({ state }) => state === 'Succeeded' || state === 'Skipped')) {
      if (execution.node(plan.output)?.state === 'Succeeded') execution.succeed()
      else execution.beginToFail(JSON.stringify(refuse('output_missing', { fields: [...requiredOutputs] }).body))
    }
  }
  if (execution.failing() && execution.running().length === 0) execution.fail()
}

function claim(
  execution: ChangeableExecution,
  { plan, execution: facts, living, nowMs, mintCall }: Scene,
  item: ClaimItem,
): ItemOutcome {
  const ordinal = ordinalOf(plan, item.node)
  const node = execution.node(ordinal)
  if (!node || execution.over() || execution.failing() || nowMs >= facts.deadlineMs) return { kind: 'nothing-to-do' } // R5
  if (!living.has(item.instance)) return { kind: 'instance-unknown' }
  if (node.state === 'Ready' && item.attempt >= node.attempt) {
    execution.lend(ordinal, item, plan.nodes[ordinal]!.paid ? (node.call ?? mintCall()) : null)
    if (execution.status() === 'Admitted') execution.begin(flowLimits.executionMs)
  } else if (node.state !== 'Running' || node.lease !== item.lease) return { kind: 'nothing-to-do' } // R1
  const remainingMs = execution.deadlineInMs() ?? facts.deadlineMs - nowMs
  return { kind: 'claimed', ordinal, remainingMs }
}

function ordinalOf(plan: Plan, id: string): number {
  return plan.nodes.findIndex((node) => node.id === id)
}
