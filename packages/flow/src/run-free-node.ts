import type { Values } from '@gateway/api/execution'
import type { ContractSide, GraphNode } from '@gateway/api/graph'
import { flowLimits } from '@gateway/api/limits'
import { Refusal, type RefusalBody, refuse } from '@gateway/api/refusal'
import { CelExhausted, CelFailure, celSteps } from './cel.ts'
import { portFit } from './json-text.ts'
import { nodeKind } from './node-kinds.ts'

/** `ports` are the ports with a value: the keys of `output`. */
export type FreeNodeResult =
  | { kind: 'succeeded'; output: Values; ports: string[] }
  | { kind: 'failed'; error: RefusalBody }

/**
 * Runs a free node: template, expression, branch, constant or output. Its time is bounded for any input (cel.ts).
 * Failures are refusals: `expression_failed`, `value_too_large` for more than 64 KB on a port, and for an output node
 * `output_missing`, `output_too_large` for more than 256 KB, and `node_failed` with `details.fields` for invalid
 * values.
 * @param inputs values by port, as returned by `resolveInputs`; a port without a value is absent or null
 * @param contract for an `output` node: the side of the contract that its values must match; otherwise null
 * @param steps that its expressions may take together
 * @throws CelExhausted if it needs more than these, unless they are all that a node may take
 */
export function runFreeNode(
  node: GraphNode,
  inputs: Values,
  contract: ContractSide | null,
  steps: number = celSteps,
): FreeNodeResult {
  const run = nodeKind(node.kind)?.run
  if (!run) throw new Error(`nodes of the kind ${node.kind} are not run here`)
  try {
    const output = run(node, inputs, contract, steps)
    const ports = Object.keys(output)
    const large = ports.find((port) => !portFit(output[port]).ok)
    if (large !== undefined)
      throw refuse('value_too_large', { node: node.id, port: large, limitBytes: flowLimits.portBytes })
    return { kind: 'succeeded', output, ports }
  } catch (error) {
    if (error instanceof CelExhausted && steps < celSteps) throw error
    if (error instanceof Refusal) return { kind: 'failed', error: error.body }
    if (error instanceof CelFailure)
      return { kind: 'failed', error: refuse('expression_failed', { node: node.id, reason: error.message }).body }
    throw error
  }
}

/**
 * Returns the input values of a claimed node from `sources` and `outputs` of the claim (flow-items.ts of
 * ledger-protocol). A port without a value, or with null, is omitted; a port that collects is an array of its values,
 * in the order of its edges. Each output is parsed at most once, and only if a port uses it.
 */
export function resolveInputs(
  sources: Record<string, [node: string, port: string][]>,
  outputs: Record<string, string>,
  node: GraphNode,
): Values {
  const parsed = new Map<string, Values>()
  function valueOf([from, port]: [node: string, port: string]): unknown {
    if (!Object.hasOwn(outputs, from)) return null
    const output = parsed.get(from) ?? (JSON.parse(outputs[from]!) as Values)
    parsed.set(from, output)
    return Object.hasOwn(output, port) ? output[port] : null
  }

  const collects = nodeKind(node.kind)?.collects ?? []
  const values: Values = {}
  for (const [port, from] of Object.entries(sources)) {
    const there = from.map(valueOf).filter((value) => value !== null)
    if (there.length > 0) values[port] = collects.includes(port) ? there : there[0]
  }
  return values
}
