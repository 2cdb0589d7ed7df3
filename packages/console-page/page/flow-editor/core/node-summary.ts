import type { GraphNode } from '@gateway/api/graph'

const LONGEST = 72
const ownField: Readonly<Record<string, string>> = {
  template: 'template',
  expression: 'expression',
  branch: 'condition',
  constant: 'value',
  'product.chat': 'product',
  'product.image': 'product',
  'product.audio': 'product',
}

/** One-line summary that tells a node apart from others of its kind. */
export function nodeSummary(node: GraphNode): string {
  const value: unknown = node[ownField[node.kind] ?? '']
  if (value === undefined || value === null) return ''
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/\s+/g, ' ').trim()
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}
