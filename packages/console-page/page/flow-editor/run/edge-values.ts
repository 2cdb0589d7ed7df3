import type { Values } from '@gateway/api/execution'
import type { GraphEdge } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'
import { nodeKind } from '@gateway/flow/node-kinds'
import { edgeKey } from '../core/edges.ts'
import type { RunState } from './run-store.ts'

type Shown = Pick<RunState, 'graph' | 'nodes'>

/** The value of an edge in the execution that is shown, or null if it has none or the execution had no such edge. */
export function edgeValueOf(edge: GraphEdge, { graph, nodes }: Shown): unknown {
  const key = edgeKey(edge)
  if (!graph?.edges.some((other) => edgeKey(other) === key)) return null
  const { node, port } = endOf(edge.from)
  const output = nodes.get(node)?.output ?? {}
  return Object.hasOwn(output, port) ? output[port] : null
}

/** What a node was given, by port: as the record has it, else the values of its edges. null: nothing yet. */
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
