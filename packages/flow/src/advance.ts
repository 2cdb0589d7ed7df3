import type { Plan, PlanInput, PlanNode } from './plan.ts'

// What may run next, decided by how far each node is and not by what it answered:
//   A1  A node runs when each of its wired inputs has a value: of a port that takes one, whichever of its exclusive sources came;
//       of a port with several sources otherwise, all of them, each with a value or never to have one.
//   A2  A node is skipped when every source of one of its required inputs never will have a value. An optional input skips nothing.
//   A3  The output node is never skipped: it runs when each of its wired inputs has a value or never will.
//   A4  Once a node has failed nothing more begins.

/** Of a node by its ordinal: how far it is, and which of its output ports have a value. */
export interface NodeState {
  state: 'Pending' | 'Ready' | 'Running' | 'Succeeded' | 'Failed' | 'Skipped'
  ports: readonly string[]
}

/**
 * Ordinals of nodes that are `Pending` and may run now, and of those that never will; ascending. With what it answers taken over
 * into the states, it answers nothing more.
 * @param states by ordinal, one per node of the plan
 */
export function advance(plan: Plan, states: readonly NodeState[]): { ready: number[]; skipped: number[] } {
  if (states.some(({ state }) => state === 'Failed')) return { ready: [], skipped: [] }
  const ready = new Set<number>()
  const skipped = new Set<number>()
  const open = plan.nodes.map(({ ordinal }) => ordinal)
  // A node that is skipped may decide those that wait for it, and no others.
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
 * Whether nothing of the execution is continuing or will be: each node has ended or is skipped; or one has failed and none runs anymore,
 * anything that was not started by then.
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
