import type { Values } from '@gateway/contracts/execution'
import type { ContractSide, GraphNode } from '@gateway/contracts/graph'
import { flowLimits } from '@gateway/contracts/limits'
import { refuse, Refusal, type RefusalBody } from '@gateway/contracts/refusal'
import { CelFailure } from './cel.ts'
import { jsonWithin } from './json-text.ts'
import { nodeKind } from './node-kinds.ts'

/** `ports` are those that have a value: the keys of `output`. */
export type FreeNodeResult =
  | { kind: 'succeeded'; output: Values; ports: string[] }
  | { kind: 'failed'; error: RefusalBody }

/**
 * Runs a node that calls nothing: template, expression, branch, constant, output. Its time is bounded whatever it is given (cel.ts).
 * What ends the execution is a refusal: `expression_failed`, `value_too_large` beyond 64 KB on a port, and of an output node
 * `output_missing`, `output_too_large` beyond 256 KB, and `node_failed` with `details.fields` for values that do not fit.
 * @param inputs values by port, as `resolveInputs` gives them; a port without a value is left out or null
 * @param contract of an `output` node: the contract's side that its values have to fit; null for others
 */
export function runFreeNode(node: GraphNode, inputs: Values, contract: ContractSide | null): FreeNodeResult {
  const run = nodeKind(node.kind)?.run
  if (!run) throw new Error(`nodes of the kind ${node.kind} are not run here`)
  try {
    const output = run(node, inputs, contract)
    const ports = Object.keys(output)
    const large = ports.find((port) => !jsonWithin(output[port], flowLimits.portBytes).ok)
    if (large !== undefined)
      throw refuse('value_too_large', { node: node.id, port: large, limitBytes: flowLimits.portBytes })
    return { kind: 'succeeded', output, ports }
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'failed', error: error.body }
    if (error instanceof CelFailure)
      return { kind: 'failed', error: refuse('expression_failed', { node: node.id, reason: error.message }).body }
    throw error
  }
}
