import type { Graph } from '@gateway/api/graph'

const known = new WeakMap<Graph['nodes'], string[]>()

/**
 * Unique keys of the nodes, in their order: the ID, with a number appended if an earlier node has the same ID.
 * Duplicate IDs are a problem of the graph, which must still be drawn.
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
