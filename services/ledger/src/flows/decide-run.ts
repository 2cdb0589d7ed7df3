import type { ClaimItem, CompleteItem } from '@gateway/contracts/flow-items'
import { flowLimits } from '@gateway/contracts/limits'
import { refuse } from '@gateway/contracts/refusal'
import { advance } from '@gateway/flow/advance'
import type { Plan } from '@gateway/flow/plan'
import type { FlowItem, ItemOutcome, ReclaimItem } from './flow-item.ts'
import { changeableRun, type ChangeableRun } from './changeable-run.ts'
import type { RunChange, RunFacts } from './run-facts.ts'

// What a batch of items does to one run: pure, from what was read of the run and all its nodes at one moment.
//   R1  Only the lease of its attempt ends a node. Who lost it changes nothing and is told so; who repeats itself hears the same.
//   R2  A result is recorded once, and then stays.
//   R3  Whatever ends a lease closes its reservation: usage is charged, all else released. So a run without a lease holds nothing.
//   R4  Ends come before beginnings, whatever the order of arrival: what may run now is decided once, from all nodes, when every
//       result of the batch is known; claims are last.
//   R5  A run that begins to fail gives no lease any more. What runs may end; when nothing does, the run is Failed.
//   R6  A run has Succeeded when every node has ended and the output node succeeded. The output node skipped is a run without output.
//   R7  Every result and the end of the run take the next number of progress; nothing comes after the end.
//   R8  An attempt that died with its holder counts as a death; one that was given back does not. Both raise the attempt, so that a
//       job of the old one gets nothing.
//   R9  Past its deadline a run begins to fail; what still runs after GRACE_MS more is ended from here.

/** For nodes that run when the deadline is over: their workers know it too, and end them by themselves. */
const GRACE_MS = 15_000

interface Scene {
  run: RunFacts
  plan: Plan
  /** Fields that the output must have. */
  requiredOutputs: readonly string[]
  items: readonly FlowItem[]
  /** By the database's clock. */
  nowMs: number
  /** Holders of the claims that live, and those of the nodes that are to be reclaimed. */
  living: ReadonlySet<string>
  /** An id for the paid call of a node that is claimed for the first time. */
  mintCall: () => string
}

/** Decides what the items do. Answers an outcome each, in their order, and what is to be written; null: nothing. */
export function decideRun(scene: Scene): { outcomes: ItemOutcome[]; change: RunChange | null } {
  const run = changeableRun(scene.run)
  const outcomes: ItemOutcome[] = scene.items.map(() => ({ kind: 'nothing-to-do' }))
  scene.items.forEach((item, n) => {
    if (item.op === 'complete') outcomes[n] = complete(run, scene, item)
    else if (item.op === 'reclaim') reclaim(run, scene, item)
  })
  const isOverdue = scene.items.some(({ op }) => op === 'overdue')
  if (isOverdue) overdue(run, scene)
  if (isOverdue || run.changed()) moveOn(run, scene)
  scene.items.forEach((item, n) => {
    if (item.op === 'claim') outcomes[n] = claim(run, scene, item)
  })
  return { outcomes, change: run.change() }
}

function complete(run: ChangeableRun, { plan }: Scene, item: CompleteItem): ItemOutcome {
  const ordinal = ordinalOf(plan, item.node)
  const node = run.node(ordinal)
  if (node?.lease !== item.lease) return { kind: 'fenced' } // R1
  if (node.state !== 'Running') return { kind: 'completed' } // R2
  const { result, durationMs, remoteMs } = item
  if (result.kind === 'given-back') {
    run.takeBack(ordinal, { died: false, reason: 'its worker gave it back' })
    return { kind: 'completed' }
  }
  run.close(ordinal, item.usage, 'its node ended without usage')
  if (result.kind === 'succeeded') {
    run.end(ordinal, { state: 'Succeeded', output: result.output, ports: result.ports, durationMs, remoteMs })
    if (ordinal === plan.output) run.setOutput(result.output)
  } else {
    run.end(ordinal, { state: 'Failed', error: result.error, durationMs, remoteMs })
    run.beginToFail(result.error)
  }
  return { kind: 'completed' }
}

function reclaim(run: ChangeableRun, { plan, living }: Scene, { node: id, lease, holder }: ReclaimItem): void {
  const ordinal = ordinalOf(plan, id)
  const node = run.node(ordinal)
  if (node?.state !== 'Running' || node.lease !== lease || living.has(holder)) return
  if (run.failing() || node.deaths + 1 < flowLimits.attempts) {
    run.takeBack(ordinal, { died: true, reason: 'its holder ended' }) // R8
    return
  }
  const error = JSON.stringify(refuse('node_failed', { node: id }).body)
  run.giveUp(ordinal, error, 'its holder ended')
  run.beginToFail(error)
}

/** R9 */
function overdue(run: ChangeableRun, { nowMs, run: { deadlineMs } }: Scene): void {
  if (run.over() || nowMs < deadlineMs) return
  const started = run.status() !== 'Admitted'
  const error = JSON.stringify(refuse('execution_timeout', { started }).body)
  if (!run.failing()) {
    run.beginToFail(error)
    run.setDeadline(GRACE_MS)
    return
  }
  for (const ordinal of run.running()) run.giveUp(ordinal, error, 'its run was over')
}

/** R4, R5, R6 */
function moveOn(run: ChangeableRun, { plan, requiredOutputs }: Scene): void {
  if (run.over()) return
  if (!run.failing()) {
    const { ready, skipped } = advance(plan, run.nodes())
    for (const ordinal of skipped) run.skip(ordinal)
    for (const ordinal of ready) run.makeReady(ordinal)
    if (run.nodes().every(({ state }) => state === 'Succeeded' || state === 'Skipped')) {
      if (run.node(plan.output)?.state === 'Succeeded') run.succeed()
      else run.beginToFail(JSON.stringify(refuse('output_missing', { fields: [...requiredOutputs] }).body))
    }
  }
  if (run.failing() && run.running().length === 0) run.fail()
}

function claim(run: ChangeableRun, { plan, run: facts, living, nowMs, mintCall }: Scene, item: ClaimItem): ItemOutcome {
  const ordinal = ordinalOf(plan, item.node)
  const node = run.node(ordinal)
  if (!node || run.over() || run.failing() || nowMs >= facts.deadlineMs) return { kind: 'nothing-to-do' } // R5
  if (!living.has(item.holder)) return { kind: 'holder-unknown' }
  if (node.state === 'Ready' && item.attempt >= node.attempt) {
    run.lend(ordinal, item, plan.nodes[ordinal]!.paid ? (node.call ?? mintCall()) : null)
    if (run.status() === 'Admitted') run.begin(flowLimits.executionMs)
  } else if (node.state !== 'Running' || node.lease !== item.lease) return { kind: 'nothing-to-do' } // R1
  const remainingMs = run.deadlineInMs() ?? facts.deadlineMs - nowMs
  return { kind: 'claimed', ordinal, remainingMs }
}

function ordinalOf(plan: Plan, id: string): number {
  return plan.nodes.findIndex((node) => node.id === id)
}
