import { flowLimits } from '@gateway/contracts/limits'
import type { Plan, PlanNode } from '@gateway/flow/plan'
import { resolveInputs } from '@gateway/flow/resolve-inputs'
import { sourcesIn } from '../cache/load-executions.ts'
import { executionFields, nodeFields, object, stored } from './compose-record.ts'
import type { ExecutionRow, NodeRow } from './read-rows.ts'

// What people read of an execution besides its record (packages/contracts/src/execution.ts). All of it follows from what is stored:
// the input is what the input node answered, and a node was given what the nodes before it answered.

/** An `ExecutionDetail`, as text. `nodes` are all of them. */
export function composeDetail(execution: ExecutionRow, nodes: readonly NodeRow[], plan: Plan): string {
  const inputs = inputsOf(nodes, plan)
  const details = nodes.map((node, ordinal) =>
    object({
      ...nodeFields(execution, node),
      input: inputs[ordinal] ?? 'null',
      attempts: String(node.claimed_ms === null ? node.attempt - 1 : node.attempt),
      startedAt: node.claimed_ms === null ? 'null' : JSON.stringify(new Date(node.claimed_ms).toISOString()),
      waitedMs: String(waitedMs(execution, nodes, ordinal, plan.nodes[ordinal])),
    }),
  )
  return object({
    ...executionFields(execution, nodes),
    input: stored(nodes[plan.input]?.output ?? null),
    nodes: `[${details.join(',')}]`,
  })
}

/** By ordinal: the inputs of nodes that were claimed, as JSON text, as far as the record has room for them. */
function inputsOf(nodes: readonly NodeRow[], plan: Plan): (string | null)[] {
  const outputs = Object.fromEntries(
    nodes.flatMap(({ node, output }) => (output === null ? [] : [[node, stored(output)]])),
  )
  let roomBytes: number = flowLimits.recordInputBytes
  return nodes.map(({ claimed_ms }, ordinal) => {
    const planned = plan.nodes[ordinal]
    if (claimed_ms === null || planned === undefined) return null
    const text = JSON.stringify(resolveInputs(planned.sources, outputs, planned.node))
    const bytes = Buffer.byteLength(text)
    if (bytes > roomBytes) return null
    roomBytes -= bytes
    return text
  })
}

/** From the end of the last node that it takes a value from to its claim, by the database's clock. */
function waitedMs(
  { created_at }: Pick<ExecutionRow, 'created_at'>,
  nodes: readonly NodeRow[],
  ordinal: number,
  planned: PlanNode | undefined,
): number | null {
  const claimedMs = nodes[ordinal]!.claimed_ms
  if (claimedMs === null) return null
  const ends = sourcesIn(planned).map((source) => nodes[source]?.ended_ms ?? 0)
  return Math.max(0, claimedMs - Math.max(created_at.getTime(), ...ends))
}
