import type { Graph } from '@gateway/api/graph'

const known = new WeakMap<Graph['nodes'], string[]>()

/**
 * A key for each node, in their order, that no other has: its id, and for the second one of the same id that and its number. A
 * graph with two nodes of one id has a problem, and still has to be drawn.
 */
export function nodeKeys({ nodes }: Graph): string[] {
  const before = known.get(nodes)
  if (before) return before
  const taken = new Set<string>()
  const keys = nodes.map(({ id }) => {
    let key = id
    for (let number = 2; taken.has(key); number++) key = `${id} (${number})`
    taken.add(key)
    return key
  })
  known.set(nodes, keys)
  return keys
}

export function nodeOf(graph: Graph, key: string): Graph['nodes'][number] | null {
  return graph.nodes[nodeKeys(graph).indexOf(key)] ?? null
}
