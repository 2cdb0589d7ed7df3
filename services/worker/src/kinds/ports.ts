import type { Values } from '@gateway/contracts/execution'
import type { GraphNode } from '@gateway/contracts/graph'

/** The text at a port; null where there is none. */
export function textAt(inputs: Values, port: string): string | null {
  const value = inputs[port]
  return typeof value === 'string' ? value : null
}

/** The product that a node calls. */
export function productOf({ product }: GraphNode): string {
  return typeof product === 'string' ? product : ''
}
