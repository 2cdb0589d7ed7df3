import type { Claimed } from '@gateway/contracts/flow-items'
import type { Flow } from '../cache/flow.ts'
import type { ExecutionChange, ExecutionFacts } from '../store/execution-facts.ts'
import type { Granted } from './node-item.ts'

interface Told {
  execution: ExecutionFacts
  /** null: the lease was granted before, and is asked for again. */
  change: ExecutionChange | null
  granted: Granted
  flow: Flow
  /** What its sources answered, JSON text by ordinal. */
  sources: ReadonlyMap<number, string>
}

/** What a worker needs to run the node that it was granted. */
export function answerClaim({ execution, change, granted: { ordinal, remainingMs }, flow, sources }: Told): Claimed {
  const { node, sources: sourcesByPort } = flow.plan.nodes[ordinal]!
  const { attempt, call, reservation } = change?.nodes.get(ordinal) ?? execution.nodes[ordinal]!
  const inOrder = [...sources].toSorted(([a], [b]) => a - b) // a claim asked again answers the same text, cached or read
  return {
    kind: 'claimed',
    project: execution.project,
    node,
    sources: sourcesByPort,
    outputs: Object.fromEntries(inOrder.map(([source, text]) => [flow.plan.nodes[source]!.id, text])),
    contract: ordinal === flow.plan.output ? flow.outputContract : null,
    remainingMs,
    attempt,
    callId: call ?? '', // of a node that pays for nothing
    callReservation: reservation ?? '',
  }
}
