import type { Values } from '@gateway/contracts/execution'
import type { GraphNode } from '@gateway/contracts/graph'
import { nodeKind } from './node-kinds.ts'

/**
 * The values of a claimed node's input ports, from a claim's `sources` and `outputs` (contracts, flow-items.ts). A port of which no
 * source has a value, or whose value is null, is left out; one that collects is an array of those there are, in the order of its
 * edges. Each source's output is parsed at most once, and only where a port takes from it.
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
