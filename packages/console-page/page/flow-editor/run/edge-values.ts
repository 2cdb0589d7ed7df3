import type { Values } from '@gateway/api/execution'
import type { GraphEdge } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'
import { nodeKind } from '@gateway/flow/node-kinds'
import { edgeKey } from '../core/edges.ts'
import type { RunState } from './run-store.ts'

type Shown = Pick<RunState, 'graph' | 'nodes'>

/** Value of an edge in the shown execution, or null if it has none or the executed graph lacks the edge. */
export function edgeValueOf(edge: GraphEdge, { graph, nodes }: Shown): unknown {
  const key = edgeKey(edge)
  if (!graph?.edges.some((other) => edgeKey(other) === key)) return null
  const { node, port } = endOf(edge.from)
  const output = nodes.get(node)?.output ?? {}
  return Object.hasOwn(output, port) ? output[port] : null
}

/**
 * Inputs of a node by port: the recorded ones or, without a record, the values of its edges. null if there are none
 * yet.
 */
export function givenTo(id: string, { graph, nodes }: Shown): Values | null {
  const recorded = nodes.get(id)?.input
  if (recorded) return recorded
  const kind = graph?.nodes.find((node) => node.id === id)?.kind ?? ''
  const collected = nodeKind(kind)?.collects ?? []
  const given: Values = {}
  for (const edge of graph?.edges ?? []) {
    const { node, port } = endOf(edge.to)
    const value = node === id ? edgeValueOf(edge, { graph, nodes }) : null
    if (value === null) continue
    if (collected.includes(port)) given[port] = [...((given[port] as unknown[] | undefined) ?? []), value]
    else given[port] ??= value
  }
  return Object.keys(given).length > 0 ? given : null
}
