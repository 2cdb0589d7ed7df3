import type { Plan, PlanInput, PlanNode } from './plan.ts'

// Decides which nodes run next from the states of the nodes, not from their values:
//   A1  A node runs once each wired input is decided: a port for one value needs a value from one of its exclusive
//       sources; a port that collects needs every source to have a value or to be certain never to have one.
//   A2  A node is skipped if no source of one of its required inputs can ever have a value. Optional inputs skip
//       nothing.
//   A3  The output node is never skipped: it runs once each of its wired inputs has a value or never will.
//   A4  After a node has failed, no further node starts.

/** State of a node, and its output ports that have a value. */
export interface NodeState {
  state: 'Pending' | 'Ready' | 'Running' | 'Succeeded' | 'Failed' | 'Skipped'
  ports: readonly string[]
}

/**
 * Returns the ordinals of `Pending` nodes that may run now and of those that never will, ascending. Once the result is
 * applied to the states, a second call returns nothing.
 * @param states by ordinal, one per node of the plan
 */
export function advance(plan: Plan, states: readonly NodeState[]): { ready: number[]; skipped: number[] } {
  if (states.some(({ state }) => state === 'Failed')) return { ready: [], skipped: [] }
  const ready = new Set<number>()
  const skipped = new Set<number>()
  const open = plan.nodes.map(({ ordinal }) => ordinal)
  // Skipping a node can decide only nodes that wait for it.
  for (const ordinal of open) {
    if (states[ordinal]!.state !== 'Pending' || skipped.has(ordinal)) continue
    const decided = decide(plan.nodes[ordinal]!, states, skipped)
    if (decided === 'ready') ready.add(ordinal)
    if (decided !== 'skipped') continue
    skipped.add(ordinal)
    open.push(...plan.nodes[ordinal]!.dependants)
  }
  const ascending = (a: number, b: number) => a - b
  return { ready: [...ready].toSorted(ascending), skipped: [...skipped].toSorted(ascending) }
}

/**
 * Whether the execution is over: each node has ended or is skipped; or one has failed and none is running, regardless
 * of nodes that have not started.
 */
export function isOver(_plan: Plan, states: readonly NodeState[]): boolean {
  const some = (wanted: NodeState['state'][]) => states.some(({ state }) => wanted.includes(state))
  return some(['Failed']) ? !some(['Running']) : !some(['Pending', 'Ready', 'Running'])
}

function decide(node: PlanNode, states: readonly NodeState[], skipped: Set<number>): 'ready' | 'skipped' | 'waits' {
  const inputs = node.inputs.map((input) => [input, availability(input, states, skipped)] as const)
  if (node.kind !== 'output' && inputs.some(([{ required }, stands]) => required && stands === 'never'))
    return 'skipped'
  return inputs.every(([, stands]) => stands !== 'waits') ? 'ready' : 'waits'
}

function availability(
  input: PlanInput,
  states: readonly NodeState[],
  skipped: Set<number>,
): 'there' | 'never' | 'waits' {
  const all = input.sources.map(({ ordinal, port }) => {
    const { state, ports } = states[ordinal]!
    if (state === 'Succeeded') return ports.includes(port) ? 'there' : 'never'
    return state === 'Skipped' || skipped.has(ordinal) ? 'never' : 'waits'
  })
  if (all.every((stands) => stands === 'never')) return 'never'
  if (input.collects) return all.includes('waits') ? 'waits' : 'there'
  return all.includes('there') ? 'there' : 'waits'
}
