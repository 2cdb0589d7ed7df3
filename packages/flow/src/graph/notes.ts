import type { GraphNode } from '@gateway/contracts/graph'

/**
 * What whoever draws a flow may write on a node of any kind. Nothing reads it when the flow runs, so it is no part of a package:
 * to move a node changes no digest.
 */
export const notes: readonly string[] = ['title', 'description', 'position']

export function withoutNotes(node: GraphNode): GraphNode {
  return Object.fromEntries(Object.entries(node).filter(([field]) => !notes.includes(field))) as GraphNode
}
