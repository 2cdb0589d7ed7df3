import type { Graph } from '@gateway/api/graph'

const LONGEST_ID = 64
const beginnings: Readonly<Record<string, string>> = { input: 'in', output: 'out', constant: 'value', branch: 'branch' }

/** ID that no node or edge of the graph uses: `wanted` itself, or with a number appended. */
export function freeId({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>, wanted: string): string {
  const named = edges.flatMap(({ from, to }) => [from, to]).map((end) => end.split('.', 1)[0])
  const taken = new Set([...nodes.map(({ id }) => id), ...named])
  const stem = stemOf(wanted)
  let id = stem
  for (let number = 2; taken.has(id); number++) id = `${stem.slice(0, LONGEST_ID - 5)}-${number}`
  return id
}

/** Strips the number: `draft-2` has the stem `draft`, so IDs of copies of copies stay short. */
function stemOf(wanted: string): string {
  const stem = wanted
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .replace(/^[^A-Za-z]+/, '')
    .replace(/-\d+$/, '')
    .slice(0, LONGEST_ID)
  return stem === '' ? 'node' : stem
}

/** Initial ID of a node of a kind, such as `chat` for `product.chat`. */
export function idForKind(kind: string): string {
  return beginnings[kind] ?? kind.slice(kind.lastIndexOf('.') + 1)
}
