import type { Graph } from '@gateway/contracts/graph'
import { refuse } from '@gateway/contracts/refusal'
import { requireJsonWithinLimits } from '../request/json-limits.ts'

/**
 * The graph of a body that was checked to hold one, as it was sent and not as a parser of shapes copies it, so that what it holds
 * beside its shape stays in it. What is wrong with a graph is the checker's to say.
 * @throws Refusal `invalid_request`
 */
export function sentGraph({ graph }: Record<string, unknown>): Graph {
  requireJsonWithinLimits(graph, 'graph')
  return graph as Graph
}

/** How a graph is kept and shown: compact JSON, the same for the same graph. */
export function graphBytes(graph: Graph): Uint8Array<ArrayBuffer> {
  // `stringify` writes U+0000 and lone surrogates as escapes, so the text is UTF-8 whatever the graph holds.
  return new TextEncoder().encode(JSON.stringify(graph))
}

/** @throws Refusal `not_found` for what is the number of no revision */
export function revisionNumberOf(text: unknown): number {
  if (typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw refuse('not_found', {})
}
