import type { Graph } from '@gateway/api/graph'

const LONGEST_ID = 64
const beginnings: Readonly<Record<string, string>> = { input: 'in', output: 'out', constant: 'value', branch: 'branch' }

/** An id that no node and no edge of the graph names: `wanted` itself, or with a number behind it. */
export function freeId({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>, wanted: string): string {
  const named = edges.flatMap(({ from, to }) => [from, to]).map((end) => end.split('.', 1)[0])
  const taken = new Set([...nodes.map(({ id }) => id), ...named])
  const stem = stemOf(wanted)
  let id = stem
  for (let number = 2; taken.has(id); number++) id = `${stem.slice(0, LONGEST_ID - 5)}-${number}`
  return id
}

/** `draft-2` and `draft` have one stem, so that copies of copies stay short. */
function stemOf(wanted: string): string {
  const stem = wanted
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .replace(/^[^A-Za-z]+/, '')
    .replace(/-\d+$/, '')
    .slice(0, LONGEST_ID)
  return stem === '' ? 'node' : stem
}

/** What a node of that kind is called at first: `product.chat` is `chat`. */
export function idForKind(kind: string): string {
  return beginnings[kind] ?? kind.slice(kind.lastIndexOf('.') + 1)
}
