import type { NodeRecord, Values } from '@gateway/api/execution'
import type { FlowPackage } from '@gateway/api/graph'
import { advance, isOver, type NodeState } from './advance.ts'
import { compileContract } from './contract.ts'
import { packageText } from './package-text.ts'
import { planOf, type PlanNode } from './plan.ts'
import { resolveInputs, runFreeNode } from './run-free-node.ts'
import type { ValidFlow } from './generators.fixture.ts'

export interface ExecutionOutcome {
  states: NodeState['state'][]
  outputs: (Values | null)[]
  errors: (NodeRecord['error'] | null)[]
  /** Ordinals in the order in which the nodes started. */
  begun: number[]
}

/**
 * Runs a flow in memory as the ledger and its workers do, one completion at a time.
 * @param choose picks which of the running nodes completes next
 */
export function runInMemory({ graph, input }: ValidFlow, choose: (running: number) => number): ExecutionOutcome {
  const flow = packageText(graph).package
  const checked = compileContract(flow.input).check(input)
  if (!checked.ok) throw new Error('the input does not fit')
  const isInput = ({ kind }: { kind: string }) => kind === 'input'
  return runOn(
    flow,
    {
      states: flow.graph.nodes.map((node): NodeState => {
        return isInput(node)
          ? { state: 'Succeeded', ports: Object.keys(checked.values) }
          : { state: 'Pending', ports: [] }
      }),
      outputs: flow.graph.nodes.map((node) => (isInput(node) ? checked.values : null)),
    },
    choose,
  )
}

/** Continues an execution from given states: a `Ready` node is started. */
export function runOn(
  flow: FlowPackage,
  from: { states: readonly NodeState[]; outputs: readonly (Values | null)[] },
  choose: (running: number) => number,
): ExecutionOutcome {
  const plan = planOf(flow)
  const states = from.states.map((node): NodeState => {
    return node.state === 'Ready' ? { state: 'Pending', ports: [] } : node
  })
  const outputs = from.outputs.map((output) => output && JSON.stringify(output))
  const errors: ExecutionOutcome['errors'] = plan.nodes.map(() => null)
  const begun: number[] = []

  function end(ordinal: number, output: Values): void {
    outputs[ordinal] = JSON.stringify(output)
    states[ordinal] = { state: 'Succeeded', ports: Object.keys(output) }
  }
  function move(): void {
    const { ready, skipped } = advance(plan, states)
    for (const ordinal of skipped) states[ordinal] = { state: 'Skipped', ports: [] }
    for (const ordinal of ready) states[ordinal] = { state: 'Running', ports: [] }
    begun.push(...ready)
    const again = advance(plan, states)
    if (again.ready.length + again.skipped.length > 0) throw new Error('advance had not returned everything')
  }

  move()
  while (!isOver(plan, states)) {
    const running = states.flatMap(({ state }, ordinal) => (state === 'Running' ? [ordinal] : []))
    if (running.length === 0) throw new Error('the execution is stranded')
    const ordinal = running[choose(running.length) % running.length]!
    const node = plan.nodes[ordinal]!
    const there = node.inputs.flatMap(({ sources }) => sources).filter((source) => outputs[source.ordinal] !== null)
    const known = Object.fromEntries(there.map((source) => [plan.nodes[source.ordinal]!.id, outputs[source.ordinal]!]))
    const inputs = resolveInputs(node.sources, known, node.node)
    const result = node.paid
      ? ({ kind: 'succeeded', output: answerOf(node, inputs) } as const)
      : runFreeNode(node.node, inputs, node.kind === 'output' ? flow.output : null)
    if (result.kind === 'succeeded') end(ordinal, result.output)
    else {
      errors[ordinal] = result.error
      states[ordinal] = { state: 'Failed', ports: [] }
    }
    move()
  }
  return {
    states: states.map(({ state }) => state),
    outputs: outputs.map((output) => (output === null ? null : (JSON.parse(output) as Values))),
    errors,
    begun,
  }
}

/** Response of a product: deterministic for its inputs. */
function answerOf({ kind }: PlanNode, inputs: Values): Values {
  const text = JSON.stringify(inputs).slice(0, 200)
  if (kind === 'product.chat') return { text: `answer to ${text}` }
  const asset = { asset: `ast_${text.length}`, bytes: text.length }
  return kind === 'product.image'
    ? { image: { ...asset, mimeType: 'image/png' } }
    : { audio: { ...asset, mimeType: 'audio/wav' } }
}
